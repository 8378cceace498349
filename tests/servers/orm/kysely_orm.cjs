// Kysely, the query builder: a migration and the steps.
'use strict';
const { Kysely, Migrator, PostgresDialect, sql } = require('kysely');
const { Pool } = require('pg');
const { expect, failure, run, server } = require('./steps.cjs');

const migration = {
  async up(on) {
    await on.schema
      .createTable('item')
      .addColumn('id', 'serial', (column) => column.primaryKey())
      .addColumn('name', 'varchar(50)', (column) => column.notNull().unique())
      .addColumn('stock', 'integer', (column) => column.notNull())
      .addColumn('details', 'jsonb', (column) => column.notNull().defaultTo('{}'))
      .addCheckConstraint('stock_left', sql`stock >= 0`)
      .execute();
    await on.schema
      .createTable('orders')
      .addColumn('id', 'integer', (column) => column.primaryKey().generatedAlwaysAsIdentity())
      .addColumn('item_id', 'integer', (column) => column.notNull().references('item.id'))
      .addColumn('quantity', 'integer', (column) => column.notNull())
      .execute();
    await on.schema.createIndex('orders_item').on('orders').column('item_id').execute();
  },
  async down(on) {
    await on.schema.dropTable('orders').execute();
    await on.schema.dropTable('item').execute();
  },
};
const db = new Kysely({ dialect: new PostgresDialect({ pool: new Pool({ ...server, max: 4 }) }) });
const migrator = new Migrator({ db, provider: { getMigrations: async () => ({ tables: migration }) } });
const value = async (name, on = db) =>
  (await on.selectFrom('item').select('stock').where('name', '=', name).executeTakeFirstOrThrow()).stock;
const set = (name, stock, on = db) =>
  on.updateTable('item').set({ stock }).where('name', '=', name).executeTakeFirst();
const insert = (row, on = db) => on.insertInto('item').values(row).execute();

const steps = {
  async connect() {
    expect((await sql`select 1 as one`.execute(db)).rows.length, 1);
  },
  async migrate() {
    for (const move of ['migrateToLatest', 'migrateDown', 'migrateToLatest']) {
      const { error } = await migrator[move]();
      if (error) throw error;
    }
    const tables = await db.introspection.getTables();
    expect(tables.map((table) => table.name).sort(), ['item', 'orders']);
  },
  async create() {
    const pen = await db
      .insertInto('item')
      .values({ name: 'pen', stock: 10, details: { colour: 'blue' } })
      .returning('id')
      .executeTakeFirstOrThrow();
    await db.insertInto('orders').values({ item_id: pen.id, quantity: 2 }).execute();
    await insert([{ name: 'ink', stock: 5 }, { name: 'pad', stock: 7 }]);
    await db
      .insertInto('item')
      .values({ name: 'pen', stock: 0 })
      .onConflict((conflict) => conflict.column('name').doNothing())
      .execute();
    const { n } = await db
      .selectFrom('item')
      .select((build) => build.fn.countAll().as('n'))
      .executeTakeFirstOrThrow();
    expect(n, '3');
  },
  async query() {
    const many = db.selectFrom('item').select('name').where('stock', '>', 5).orderBy('name');
    expect((await many.execute()).map((row) => row.name), ['pad', 'pen']);
    const joined = db.selectFrom('item').innerJoin('orders', 'item_id', 'item.id');
    expect((await joined.select(['name', 'quantity']).execute()).length, 1);
    const summed = db.with('i', (on) => on.selectFrom('item').selectAll()).selectFrom('i');
    const { n } = await summed.select((build) => build.fn.sum('stock').as('n')).executeTakeFirst();
    expect(n, '22');
  },
  async update() {
    expect((await set('ink', 6)).numUpdatedRows, 1n);
    await db
      .updateTable('item')
      .set((build) => ({ stock: build('stock', '-', 1) }))
      .where('name', '=', 'ink')
      .execute();
    expect(await value('ink'), 5);
  },
  async rollback() {
    await db.transaction().execute((open) => set('pen', 9, open));
    const open = await db.startTransaction().execute();
    await set('pen', 1, open);
    expect(await value('pen', open), 1);
    await open.rollback().execute();
    expect(await value('pen'), 9);
  },
  async savepoint() {
    const open = await db.startTransaction().execute();
    await set('pad', 6, open);
    const marked = await open.savepoint('mark').execute();
    await set('pad', 1, marked);
    expect((await failure(() => insert({ name: 'pen', stock: 1 }, marked))).code, '23505');
    await marked.rollbackToSavepoint('mark').execute();
    expect(await value('pad', open), 6);
    await open.commit().execute();
    expect(await value('pad'), 6);
  },
  async forUpdate() {
    await db.transaction().execute(async (open) => {
      const named = (name) => open.selectFrom('item').selectAll().where('name', '=', name).forUpdate();
      const pen = await named('pen').executeTakeFirstOrThrow();
      await set('pen', pen.stock - 1, open);
      expect((await named('pad').skipLocked().execute()).length, 1);
    });
    expect(await value('pen'), 8);
  },
  async constraints() {
    const unique = await failure(() => insert({ name: 'pen', stock: 1 }));
    expect([unique.code, unique.table, unique.constraint], ['23505', 'item', 'item_name_key']);
    const negative = await failure(() => insert({ name: 'cap', stock: -1 }));
    expect([negative.code, negative.constraint], ['23514', 'stock_left']);
    const order = db.insertInto('orders').values({ item_id: 1000000, quantity: 1 });
    expect((await failure(() => order.execute())).code, '23503');
  },
  async delete() {
    await db.deleteFrom('orders').execute();
    const gone = await db.deleteFrom('item').where('name', '=', 'pen').returning('stock').execute();
    expect(gone, [{ stock: 8 }]);
  },
};
run('kysely', steps, () => db.destroy());
