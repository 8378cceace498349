# ActiveRecord, the ORM of Rails: a migration and the steps over the models. Each line is
# `ok NAME` or `failed NAME: WHY`, as of steps.py.
require "active_record"

ActiveRecord::Base.establish_connection(
  adapter: "postgresql", host: ENV.fetch("PGHOST"), port: ENV.fetch("PGPORT"),
  username: ENV.fetch("PGUSER"), database: ENV.fetch("PGDATABASE"), pool: 4
)
ActiveRecord::Migration.verbose = false

class MakeTables < ActiveRecord::Migration[6.1]
  def change
    create_table :items do |t|
      t.string :name, limit: 50, null: false, index: { unique: true }
      t.integer :stock, null: false
      t.jsonb :details, null: false, default: {}
      t.check_constraint "stock >= 0", name: "stock_left"
    end
    create_table :orders do |t|
      t.references :item, null: false, foreign_key: true
      t.integer :quantity, null: false
      t.timestamps
    end
  end
end

class Item < ActiveRecord::Base
  has_many :orders
end

class Order < ActiveRecord::Base
  belongs_to :item, optional: true
end

def expect(seen, wanted)
  raise "saw #{seen.inspect}, not #{wanted.inspect}" unless seen == wanted
end

def expect_error(kind)
  yield
rescue kind => error
  error
else
  raise "no #{kind}"
end

def stock(name)
  Item.find_by!(name: name).stock
end

steps = {
  "connect" => lambda {
    expect(ActiveRecord::Base.connection.select_value("select 1"), 1)
    expect(ActiveRecord::Base.connection.tables, [])
  },
  "migrate" => lambda {
    MakeTables.migrate(:up)
    MakeTables.migrate(:down)
    MakeTables.migrate(:up)
    ActiveRecord::Base.connection.add_column(:items, :note, :text)
    ActiveRecord::Base.connection.remove_column(:items, :note)
    expect(ActiveRecord::Base.connection.foreign_keys("orders").first.to_table, "items")
    dump = StringIO.new
    ActiveRecord::SchemaDumper.dump(ActiveRecord::Base.connection, dump)
    expect(dump.string.include?('t.check_constraint "stock >= 0"'), true)
    [Item, Order].each(&:reset_column_information)
  },
  "create" => lambda {
    pen = Item.create!(name: "pen", stock: 10, details: { colour: "blue" })
    pen.orders.create!(quantity: 2)
    Item.insert_all!([{ name: "ink", stock: 5 }, { name: "pad", stock: 7 }])
    Item.upsert_all([{ name: "pen", stock: 10, details: { colour: "blue" } }], unique_by: :name)
    Item.create_or_find_by!(name: "pen") { |item| item.stock = 0 }
    expect(Item.count, 3)
  },
  "query" => lambda {
    expect(Item.where("stock > ?", 5).order(:name).pluck(:name), %w[pad pen])
    expect(Item.where("details->>'colour' = ?", "blue").take!.name, "pen")
    expect(Item.includes(:orders).order(:name).map { |item| item.orders.size }, [0, 0, 1])
    expect(Item.joins(:orders).group(:name).sum(:quantity), { "pen" => 2 })
    expect(Item.sum(:stock), 22)
    expect(Item.find_each(batch_size: 2).map(&:name).sort, %w[ink pad pen])
  },
  "update" => lambda {
    Item.find_by!(name: "ink").update!(stock: 6)
    expect(Item.where(name: "ink").update_all("stock = stock - 1"), 1)
    expect(stock("ink"), 5)
    Item.find_by!(name: "ink").increment!(:stock, 3)
    expect(stock("ink"), 8)
  },
  "rollback" => lambda {
    Item.transaction { Item.find_by!(name: "pen").update!(stock: 9) }
    Item.transaction do
      Item.find_by!(name: "pen").update!(stock: 1)
      expect(stock("pen"), 1)
      raise ActiveRecord::Rollback
    end
    expect(stock("pen"), 9)
  },
  "savepoint" => lambda {
    Item.transaction do
      Item.find_by!(name: "pad").update!(stock: 6)
      expect_error(ActiveRecord::RecordNotUnique) do
        Item.transaction(requires_new: true) do
          Item.find_by!(name: "pad").update!(stock: 1)
          Item.create!(name: "pen", stock: 1)
        end
      end
      expect(stock("pad"), 6)
    end
    expect(stock("pad"), 6)
  },
  "for-update" => lambda {
    Item.find_by!(name: "pen").with_lock { |pen| Item.lock.find_by!(name: "pen").decrement!(:stock) }
    Item.transaction do
      expect(Item.lock("FOR UPDATE SKIP LOCKED").where(name: "pad").pluck(:stock), [6])
    end
    expect(stock("pen"), 8)
  },
  "constraints" => lambda {
    unique = expect_error(ActiveRecord::RecordNotUnique) { Item.create!(name: "pen", stock: 1) }
    expect(unique.cause.result.error_field(PG::PG_DIAG_CONSTRAINT_NAME), "index_items_on_name")
    check = expect_error(ActiveRecord::StatementInvalid) { Item.create!(name: "cap", stock: -1) }
    expect(check.cause.class, PG::CheckViolation)
    expect_error(ActiveRecord::InvalidForeignKey) { Order.create!(item_id: 1_000_000, quantity: 1) }
    expect_error(ActiveRecord::NotNullViolation) { Item.create!(name: "cap") }
  },
  "delete" => lambda {
    Order.delete_all
    Item.find_by!(name: "pen").destroy!
    expect(Item.count, 2)
    ActiveRecord::Base.connection.truncate_tables("items", "orders")
    expect(Item.count, 0)
  }
}

puts "version ActiveRecord #{ActiveRecord.version}"
failed = 0
steps.each do |name, step|
  step.call
  puts "ok #{name}"
rescue StandardError => error
  failed += 1
  puts "failed #{name}: #{error.class}: #{error.message.gsub(/\s+/, ' ')}"
  warn error.full_message
end
exit(failed.zero? ? 0 : 1)
