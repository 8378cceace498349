// TypeORM: entity schemas, a migration made from them, and the steps over them.
'use strict';
const { DataSource, EntitySchema, MoreThan, QueryFailedError } = require('typeorm');
const { expect, failure, run, server } = require('./steps.cjs');

const Item = new EntitySchema({
  name: 'Item',
  columns: {
    id: { type: Number, primary: true, generated: true },
    name: { type: String, length: 50, unique: true },
    stock: { type: Number },
    details: { type: 'jsonb', default: {} },
  },
  checks: [{ name: 'stock_left', expression: '"stock" >= 0' }],
  relations: { orders: { type: 'one-to-many', target: 'Order', inverseSide: 'item' } },
});
const Order = new EntitySchema({
  name: 'Order',
  columns: {
    id: { type: Number, primary: true, generated: 'uuid' },
    quantity: { type: Number },
    placed: { type: 'timestamptz', createDate: true },
  },
  relations: {
    item: { type: 'many-to-one', target: 'Item', inverseSide: 'orders', nullable: false },
  },
});

// The statements that make the tables, as `typeorm migration:generate` finds them.
class MakeTables1700000000000 {
  async up(runner) {
    await runner.query('CREATE EXTENSION IF NOT EXISTS "uuid-ossp"');
    for (const { query } of (await database.driver.createSchemaBuilder().log()).upQueries) {
      await runner.query(query);
    }
  }
  async down() {}
}
const database = new DataSource({
  type: 'postgres',
  host: server.host,
  port: server.port,
  username: server.user,
  database: server.database,
  entities: [Item, Order],
  migrations: [MakeTables1700000000000],
});
const items = () => database.getRepository(Item);
const stock = async (name) => (await items().findOneByOrFail({ name })).stock;

const steps = {
  async connect() {
    await database.initialize();
    expect(await database.query('select 1 as one'), [{ one: 1 }]);
  },
  async migrate() {
    const ran = await database.runMigrations();
    expect(ran.length, 1);
    const left = await database.driver.createSchemaBuilder().log();
    expect(left.upQueries.map(({ query }) => query), []);
    await database.dropDatabase();
    await database.synchronize();
    await database.synchronize();
  },
  async create() {
    const pen = await items().save({ name: 'pen', stock: 10, details: { colour: 'blue' } });
    await database.getRepository(Order).save({ item: pen, quantity: 2 });
    await items().insert([{ name: 'ink', stock: 5 }, { name: 'pad', stock: 7 }]);
    await items().upsert({ name: 'pad', stock: 7 }, ['name']);
    expect(await items().count(), 3);
  },
  async query() {
    const many = await items().find({ where: { stock: MoreThan(5) }, order: { name: 'ASC' } });
    expect(many.map((one) => one.name), ['pad', 'pen']);
    const [joined] = await items().find({ where: { name: 'pen' }, relations: { orders: true } });
    expect(joined.orders.map((order) => order.quantity), [2]);
    const blue = items().createQueryBuilder('i').where("i.details->>'colour' = :c", { c: 'blue' });
    expect((await blue.getOneOrFail()).name, 'pen');
    expect(await items().sum('stock'), 22);
  },
  async update() {
    const ink = await items().findOneByOrFail({ name: 'ink' });
    await items().save({ ...ink, stock: 6 });
    await items().decrement({ name: 'ink' }, 'stock', 1);
    expect(await stock('ink'), 5);
  },
  async rollback() {
    await database.transaction((manager) => manager.update(Item, { name: 'pen' }, { stock: 9 }));
    const runner = database.createQueryRunner();
    await runner.startTransaction();
    await runner.manager.update(Item, { name: 'pen' }, { stock: 1 });
    expect((await runner.manager.findOneByOrFail(Item, { name: 'pen' })).stock, 1);
    await runner.rollbackTransaction();
    await runner.release();
    expect(await stock('pen'), 9);
  },
  async savepoint() {
    await database.transaction(async (manager) => {
      await manager.update(Item, { name: 'pad' }, { stock: 6 });
      const inner = manager.transaction(async (nested) => {
        await nested.update(Item, { name: 'pad' }, { stock: 1 });
        await nested.insert(Item, { name: 'pen', stock: 1 });
      });
      expect((await failure(() => inner)).code, '23505');
      expect((await manager.findOneByOrFail(Item, { name: 'pad' })).stock, 6);
    });
    expect(await stock('pad'), 6);
  },
  async forUpdate() {
    await database.transaction(async (manager) => {
      const lock = { mode: 'pessimistic_write' };
      const pen = await manager.findOneOrFail(Item, { where: { name: 'pen' }, lock });
      await manager.save(Item, { ...pen, stock: pen.stock - 1 });
      const free = { mode: 'pessimistic_partial_write' };
      expect((await manager.find(Item, { where: { name: 'pad' }, lock: free })).length, 1);
    });
    expect(await stock('pen'), 8);
  },
  async constraints() {
    const second = () => items().insert({ name: 'pen', stock: 1 });
    await second().then(
      () => expect.fail('a second pen'),
      (error) => expect(error instanceof QueryFailedError, true),
    );
    const unique = await failure(second);
    expect([unique.code, unique.table], ['23505', 'item']);
    const negative = await failure(() => items().insert({ name: 'cap', stock: -1 }));
    expect([negative.code, negative.constraint], ['23514', 'stock_left']);
    const lost = () => database.getRepository(Order).insert({ item: { id: 1000000 }, quantity: 1 });
    expect((await failure(lost)).code, '23503');
  },
  async delete() {
    await database.getRepository(Order).createQueryBuilder().delete().execute();
    await items().delete({ name: 'pen' });
    expect(await items().count(), 2);
  },
};
run('typeorm', steps, () => database.destroy());
