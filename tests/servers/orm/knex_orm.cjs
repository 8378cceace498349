// Knex, the query builder: a migration and the steps.
'use strict';
const { knex: open } = require('knex');
const { expect, failure, run, server } = require('./steps.cjs');

const migration = {
  async up(on) {
    await on.schema.createTable('item', (table) => {
      table.increments('id');
      table.string('name', 50).notNullable().unique();
      table.integer('stock').notNullable().checkPositive('stock_left');
      table.jsonb('details').notNullable().defaultTo('{}');
    });
    await on.schema.createTable('orders', (table) => {
      table.increments('id');
      table.integer('item_id').notNullable().references('item.id');
      table.integer('quantity').notNullable();
      table.timestamp('placed').defaultTo(on.fn.now());
    });
  },
  async down(on) {
    await on.schema.dropTable('orders').dropTable('item');
  },
};
const knex = open({
  client: 'pg',
  connection: server,
  pool: { min: 0, max: 4 },
  migrations: {
    migrationSource: {
      getMigrations: async () => ['make_tables'],
      getMigrationName: (name) => name,
      getMigration: async () => migration,
    },
  },
});
const stock = async (name) => (await knex('item').where({ name }).first('stock')).stock;

const steps = {
  async connect() {
    const { rows } = await knex.raw('select 1 as one');
    expect(rows.map(({ one }) => one), [1]);
  },
  async migrate() {
    await knex.migrate.latest();
    expect(await knex.schema.hasTable('item'), true);
    await knex.migrate.rollback();
    expect(await knex.schema.hasTable('item'), false);
    await knex.migrate.latest();
    const { stock: column } = await knex('item').columnInfo();
    expect(column.type, 'integer');
  },
  async create() {
    const pen = { name: 'pen', stock: 10, details: { colour: 'blue' } };
    const [{ id }] = await knex('item').insert(pen).returning('id');
    await knex('orders').insert({ item_id: id, quantity: 2 });
    await knex('item').insert([{ name: 'ink', stock: 5 }, { name: 'pad', stock: 7 }]);
    await knex('item').insert({ name: 'pen', stock: 1 }).onConflict('name').ignore();
    await knex('item').insert({ name: 'pen', stock: 10 }).onConflict('name').merge(['stock']);
    expect(await knex('item').count('* as n'), [{ n: '3' }]);
  },
  async query() {
    const many = await knex('item').where('stock', '>', 5).orderBy('name').pluck('name');
    expect(many, ['pad', 'pen']);
    expect(await knex('item').whereJsonPath('details', '$.colour', '=', 'blue').pluck('name'), ['pen']);
    const joined = await knex('item').join('orders', 'item.id', 'item_id').select('name', 'quantity');
    expect(joined, [{ name: 'pen', quantity: 2 }]);
    expect(await knex.with('i', knex('item')).from('i').sum('stock as n'), [{ n: '22' }]);
  },
  async update() {
    expect(await knex('item').where({ name: 'ink' }).update({ stock: 6 }), 1);
    const changed = await knex('item').where({ name: 'ink' }).decrement('stock', 1).returning('stock');
    expect(changed, [{ stock: 5 }]);
  },
  async rollback() {
    await knex.transaction((open) => open('item').where({ name: 'pen' }).update({ stock: 9 }));
    const open = await knex.transaction();
    await open('item').where({ name: 'pen' }).update({ stock: 1 });
    expect(await open('item').where({ name: 'pen' }).pluck('stock'), [1]);
    await open.rollback();
    expect(await stock('pen'), 9);
  },
  async savepoint() {
    await knex.transaction(async (open) => {
      await open('item').where({ name: 'pad' }).update({ stock: 6 });
      const inner = open.transaction(async (nested) => {
        await nested('item').where({ name: 'pad' }).update({ stock: 1 });
        await nested('item').insert({ name: 'pen', stock: 1 });
      });
      expect((await failure(() => inner)).code, '23505');
      expect(await open('item').where({ name: 'pad' }).pluck('stock'), [6]);
    });
    expect(await stock('pad'), 6);
  },
  async forUpdate() {
    await knex.transaction(async (open) => {
      const pen = await open('item').where({ name: 'pen' }).forUpdate().first();
      await open('item').where({ id: pen.id }).update({ stock: pen.stock - 1 });
      const free = await open('item').where({ name: 'pad' }).forUpdate().skipLocked().pluck('name');
      expect(free, ['pad']);
    });
    expect(await stock('pen'), 8);
  },
  async constraints() {
    const unique = await failure(() => knex('item').insert({ name: 'pen', stock: 1 }));
    expect([unique.code, unique.table, unique.constraint], ['23505', 'item', 'item_name_unique']);
    const negative = await failure(() => knex('item').insert({ name: 'cap', stock: -1 }));
    expect([negative.code, negative.constraint], ['23514', 'stock_left']);
    const lost = await failure(() => knex('orders').insert({ item_id: 1000000, quantity: 1 }));
    expect(lost.code, '23503');
    expect((await failure(() => knex('item').insert({ name: 'cap' }))).column, 'stock');
  },
  async delete() {
    await knex('orders').del();
    expect(await knex('item').where({ name: 'pen' }).del(), 1);
    await knex('item').truncate().then(
      () => expect.fail('a table that another references was truncated'),
      (error) => expect(error.code, '0A000'),
    );
  },
};
run('knex', steps, () => knex.destroy());
