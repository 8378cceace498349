// Sequelize: models, sync() and the steps over them.
'use strict';
const { DataTypes, ForeignKeyConstraintError, Sequelize, UniqueConstraintError } = require('sequelize');
const { expect, failure, run, server } = require('./steps.cjs');

const sequelize = new Sequelize(server.database, server.user, '', {
  host: server.host,
  port: server.port,
  dialect: 'postgres',
  logging: false,
});
const Item = sequelize.define('item', {
  name: { type: DataTypes.STRING(50), allowNull: false, unique: true },
  stock: { type: DataTypes.INTEGER, allowNull: false },
  details: { type: DataTypes.JSONB, defaultValue: {} },
});
const Order = sequelize.define('order', { quantity: DataTypes.INTEGER });
Item.hasMany(Order, { foreignKey: { allowNull: false } });
Order.belongsTo(Item);

const item = (name, options) => Item.findOne({ where: { name }, ...options });
const stock = async (name) => (await item(name)).stock;

const steps = {
  async connect() {
    await sequelize.authenticate();
    expect(await sequelize.getQueryInterface().showAllTables(), []);
  },
  async migrate() {
    await sequelize.sync({ force: true });
    await sequelize.sync({ alter: true });
    const columns = await sequelize.getQueryInterface().describeTable('items');
    expect(columns.name.allowNull, false);
    await sequelize.getQueryInterface().addColumn('items', 'note', DataTypes.TEXT);
    await sequelize.getQueryInterface().removeColumn('items', 'note');
  },
  async create() {
    const pen = await Item.create({ name: 'pen', stock: 10, details: { colour: 'blue' } });
    await pen.createOrder({ quantity: 2 });
    await Item.bulkCreate([{ name: 'ink', stock: 5 }, { name: 'pad', stock: 7 }]);
    const [, made] = await Item.findOrCreate({ where: { name: 'pen' }, defaults: { stock: 0 } });
    expect(made, false);
    await Item.upsert({ id: pen.id, name: 'pen', stock: 10, details: { colour: 'blue' } });
    expect(await Item.count(), 3);
  },
  async query() {
    const { Op, fn, col } = Sequelize;
    const many = await Item.findAll({ where: { stock: { [Op.gt]: 5 } }, order: ['name'] });
    expect(many.map((one) => one.name), ['pad', 'pen']);
    expect((await Item.findOne({ where: { details: { colour: 'blue' } } })).name, 'pen');
    const joined = await Item.findAll({ include: Order, order: ['name'] });
    expect(joined.map((one) => one.orders.length), [0, 0, 1]);
    const [total] = await Item.findAll({ attributes: [[fn('sum', col('stock')), 'n']], raw: true });
    expect(total.n, '22');
  },
  async update() {
    const ink = await item('ink');
    await ink.update({ stock: 6 });
    await ink.decrement('stock');
    expect(await Item.update({ details: { dry: true } }, { where: { name: 'ink' } }), [1]);
    expect(await stock('ink'), 5);
  },
  async rollback() {
    await sequelize.transaction(async (transaction) => {
      await Item.update({ stock: 9 }, { where: { name: 'pen' }, transaction });
    });
    const transaction = await sequelize.transaction();
    await Item.update({ stock: 1 }, { where: { name: 'pen' }, transaction });
    expect((await item('pen', { transaction })).stock, 1);
    await transaction.rollback();
    expect(await stock('pen'), 9);
  },
  async savepoint() {
    await sequelize.transaction(async (transaction) => {
      await Item.update({ stock: 6 }, { where: { name: 'pad' }, transaction });
      const nested = await sequelize.transaction({ transaction });
      await Item.update({ stock: 1 }, { where: { name: 'pad' }, transaction: nested });
      await nested.rollback();
      expect((await item('pad', { transaction })).stock, 6);
    });
    expect(await stock('pad'), 6);
  },
  async forUpdate() {
    await sequelize.transaction(async (transaction) => {
      const pen = await item('pen', { transaction, lock: transaction.LOCK.UPDATE });
      await pen.update({ stock: pen.stock - 1 }, { transaction });
      const free = { transaction, lock: true, skipLocked: true };
      expect((await item('pad', free)).stock, 6);
    });
    expect(await stock('pen'), 8);
  },
  async constraints() {
    await Item.create({ name: 'pen', stock: 1 }).then(
      () => expect.fail('a second pen'),
      (error) => expect([error instanceof UniqueConstraintError, error.fields], [true, { name: 'pen' }]),
    );
    const order = () => Order.create({ quantity: 1, itemId: 1000000 });
    await order().then(
      () => expect.fail('no such item'),
      (error) => expect(error instanceof ForeignKeyConstraintError, true),
    );
    expect((await failure(order)).code, '23503');
    expect((await failure(() => sequelize.query('insert into items (id) values (77)'))).code, '23502');
  },
  async delete() {
    await Order.destroy({ where: {} });
    await (await item('pen')).destroy();
    expect(await Item.count(), 2);
    await Order.truncate({ cascade: true, restartIdentity: true });
    await sequelize.drop();
  },
};
run('sequelize', steps, () => sequelize.close());
