// Drizzle: tables in its own words, a migration, and the steps over them.
'use strict';
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { eq, gt, relations, sql, sum } = require('drizzle-orm');
const { drizzle } = require('drizzle-orm/node-postgres');
const { migrate } = require('drizzle-orm/node-postgres/migrator');
const { check, integer, jsonb, pgTable, serial, timestamp, varchar } = require('drizzle-orm/pg-core');
const { Pool } = require('pg');
const { expect, failure, run, server } = require('./steps.cjs');

const item = pgTable(
  'item',
  {
    id: serial('id').primaryKey(),
    name: varchar('name', { length: 50 }).notNull().unique(),
    stock: integer('stock').notNull(),
    details: jsonb('details').notNull().default({}),
  },
  (table) => [check('stock_left', sql`${table.stock} >= 0`)],
);
const orders = pgTable('orders', {
  id: serial('id').primaryKey(),
  itemId: integer('item_id').notNull().references(() => item.id),
  quantity: integer('quantity').notNull(),
  placed: timestamp('placed', { withTimezone: true }).defaultNow(),
});
const itemRelations = relations(item, ({ many }) => ({ orders: many(orders) }));
const orderRelations = relations(orders, ({ one }) => ({
  item: one(item, { fields: [orders.itemId], references: [item.id] }),
}));
// As drizzle-kit writes it for these tables.
const migration = `CREATE TABLE "item" (
  "id" serial PRIMARY KEY NOT NULL,
  "name" varchar(50) NOT NULL,
  "stock" integer NOT NULL,
  "details" jsonb DEFAULT '{}'::jsonb NOT NULL,
  CONSTRAINT "item_name_unique" UNIQUE("name"),
  CONSTRAINT "stock_left" CHECK ("item"."stock" >= 0)
);
--> statement-breakpoint
CREATE TABLE "orders" (
  "id" serial PRIMARY KEY NOT NULL,
  "item_id" integer NOT NULL,
  "quantity" integer NOT NULL,
  "placed" timestamp with time zone DEFAULT now()
);
--> statement-breakpoint
ALTER TABLE "orders" ADD CONSTRAINT "orders_item_id_item_id_fk" FOREIGN KEY ("item_id")
  REFERENCES "public"."item"("id") ON DELETE no action ON UPDATE no action;`;

const pool = new Pool({ ...server, max: 4 });
const db = drizzle(pool, { schema: { item, orders, itemRelations, orderRelations } });
const value = async (name, on = db) =>
  (await on.select().from(item).where(eq(item.name, name)))[0].stock;
const set = (name, stock, on = db) => on.update(item).set({ stock }).where(eq(item.name, name));

const steps = {
  async connect() {
    expect((await db.execute(sql`select 1 as one`)).rows, [{ one: 1 }]);
  },
  async migrate() {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'cupel-drizzle-'));
    const entry = { idx: 0, version: '7', when: 1700000000000, tag: '0000_tables', breakpoints: true };
    fs.mkdirSync(path.join(folder, 'meta'));
    fs.writeFileSync(path.join(folder, '0000_tables.sql'), migration);
    const journal = { version: '7', dialect: 'postgresql', entries: [entry] };
    fs.writeFileSync(path.join(folder, 'meta', '_journal.json'), JSON.stringify(journal));
    try {
      await migrate(db, { migrationsFolder: folder });
      await migrate(db, { migrationsFolder: folder });
    } finally {
      fs.rmSync(folder, { recursive: true });
    }
    expect(await db.select().from(item), []);
  },
  async create() {
    const pen = { name: 'pen', stock: 10, details: { colour: 'blue' } };
    const [{ id }] = await db.insert(item).values(pen).returning();
    await db.insert(orders).values({ itemId: id, quantity: 2 });
    await db.insert(item).values([{ name: 'ink', stock: 5 }, { name: 'pad', stock: 7 }]);
    await db.insert(item).values({ name: 'pen', stock: 0 }).onConflictDoNothing();
    expect(await db.$count(item), 3);
  },
  async query() {
    const many = await db.select().from(item).where(gt(item.stock, 5)).orderBy(item.name);
    expect(many.map((one) => one.name), ['pad', 'pen']);
    const nested = await db.query.item.findMany({ with: { orders: true }, orderBy: item.name });
    expect(nested.map((one) => one.orders.length), [0, 0, 1]);
    const joined = await db.select().from(item).innerJoin(orders, eq(orders.itemId, item.id));
    expect([joined[0].item.details, joined[0].orders.quantity], [{ colour: 'blue' }, 2]);
    expect(await db.select({ n: sum(item.stock) }).from(item), [{ n: '22' }]);
  },
  async update() {
    await set('ink', 6);
    const [ink] = await set('ink', sql`${item.stock} - 1`).returning();
    expect(ink.stock, 5);
  },
  async rollback() {
    await db.transaction((open) => set('pen', 9, open));
    const rolled = db.transaction(async (open) => {
      await set('pen', 1, open);
      expect(await value('pen', open), 1);
      open.rollback();
    });
    await rolled.then(() => expect.fail('no rollback'), () => {});
    expect(await value('pen'), 9);
  },
  async savepoint() {
    await db.transaction(async (open) => {
      await set('pad', 6, open);
      const inner = open.transaction(async (nested) => {
        await set('pad', 1, nested);
        await nested.insert(item).values({ name: 'pen', stock: 1 });
      });
      expect((await failure(() => inner)).code, '23505');
      expect(await value('pad', open), 6);
    });
    expect(await value('pad'), 6);
  },
  async forUpdate() {
    await db.transaction(async (open) => {
      const named = (name) => open.select().from(item).where(eq(item.name, name));
      const [pen] = await named('pen').for('update');
      await set('pen', pen.stock - 1, open);
      expect((await named('pad').for('update', { skipLocked: true })).length, 1);
    });
    expect(await value('pen'), 8);
  },
  async constraints() {
    const unique = await failure(() => db.insert(item).values({ name: 'pen', stock: 1 }));
    expect([unique.code, unique.table, unique.constraint], ['23505', 'item', 'item_name_unique']);
    const negative = await failure(() => db.insert(item).values({ name: 'cap', stock: -1 }));
    expect([negative.code, negative.constraint], ['23514', 'stock_left']);
    const lost = await failure(() => db.insert(orders).values({ itemId: 1000000, quantity: 1 }));
    expect(lost.code, '23503');
  },
  async delete() {
    await db.delete(orders);
    const gone = await db.delete(item).where(eq(item.name, 'pen')).returning();
    expect(gone.map((one) => one.stock), [8]);
  },
};
run('drizzle-orm', steps, () => pool.end());
