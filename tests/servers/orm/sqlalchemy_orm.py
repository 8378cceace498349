"""SQLAlchemy's ORM over psycopg2 or PyMySQL: declarative models and the steps over them."""

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.dialects import mysql, postgresql
from sqlalchemy.exc import IntegrityError

import steps

Base = orm.declarative_base()


class Item(Base):
    __tablename__ = "item"
    id = sa.Column(sa.Integer, primary_key=True)
    name = sa.Column(sa.String(50), nullable=False, unique=True)
    stock = sa.Column(sa.Integer, nullable=False)
    details = sa.Column(sa.JSON if steps.on_mariadb else postgresql.JSONB, nullable=False, server_default="{}")
    orders = orm.relationship("Order", back_populates="item", passive_deletes="all")
    __table_args__ = (sa.CheckConstraint("stock >= 0", name="stock_left"),)


class Order(Base):
    __tablename__ = "orders"
    id = sa.Column(sa.Integer, primary_key=True)
    item_id = sa.Column(sa.ForeignKey("item.id"), nullable=False)
    quantity = sa.Column(sa.Integer, nullable=False)
    placed = sa.Column(sa.DateTime(timezone=True), server_default=sa.func.now())
    item = orm.relationship("Item", back_populates="orders")


driver = "mariadb+pymysql" if steps.on_mariadb else "postgresql"
engine = sa.create_engine(f"{driver}://{steps.user}@{steps.host}:{steps.port}/{steps.database}")
Session = orm.sessionmaker(engine, future=True)


def stock(name):
    with Session() as session:
        return session.scalar(sa.select(Item.stock).filter_by(name=name))


def connect():
    with engine.connect() as connection:
        steps.expect(connection.scalar(sa.text("select 1")), 1)
    steps.expect(sa.inspect(engine).get_table_names(), [])


def migrate():
    Base.metadata.create_all(engine)
    Base.metadata.create_all(engine)
    found = sa.inspect(engine)
    steps.expect(sorted(found.get_table_names()), ["item", "orders"])
    steps.expect(found.get_foreign_keys("orders")[0]["referred_table"], "item")
    steps.expect(found.get_check_constraints("item")[0]["name"], "stock_left")
    Base.metadata.drop_all(engine)
    Base.metadata.create_all(engine)


def create():
    with Session() as session:
        pen = Item(name="pen", stock=10, details={"colour": "blue"})
        pen.orders.append(Order(quantity=2))
        session.add_all([pen, Item(name="ink", stock=5), Item(name="pad", stock=7)])
        session.commit()
        steps.expect(pen.orders[0].item_id, pen.id)
        if steps.on_mariadb:
            insert = mysql.insert(Item).values(name="pen", stock=0).prefix_with("IGNORE")
        else:
            insert = postgresql.insert(Item).values(name="pen", stock=0)
            insert = insert.on_conflict_do_nothing(index_elements=[Item.name])
        session.execute(insert)
        session.commit()
    steps.expect(stock("pen"), 10)


def query():
    with Session() as session:
        names = session.scalars(sa.select(Item.name).where(Item.stock > 5).order_by(Item.name))
        steps.expect(list(names), ["pad", "pen"])
        blue = session.scalars(sa.select(Item).where(Item.details["colour"].as_string() == "blue")).one()
        steps.expect(blue.name, "pen")
        loaded = session.scalars(sa.select(Item).options(orm.selectinload(Item.orders)))
        steps.expect(sorted(len(item.orders) for item in loaded), [0, 0, 1])
        steps.expect(session.scalar(sa.select(sa.func.sum(Item.stock))), 22)
        joined = sa.select(Item.name, Order.quantity).join(Item.orders)
        steps.expect(session.execute(joined).all(), [("pen", 2)])


def update():
    with Session() as session:
        session.scalars(sa.select(Item).filter_by(name="ink")).one().stock = 6
        session.commit()
        session.execute(sa.update(Item).where(Item.name == "ink").values(stock=Item.stock - 1))
        session.commit()
    steps.expect(stock("ink"), 5)


def rollback():
    with Session.begin() as session:
        session.scalars(sa.select(Item).filter_by(name="pen")).one().stock = 9
    with Session() as session:
        session.scalars(sa.select(Item).filter_by(name="pen")).one().stock = 1
        session.flush()
        session.rollback()
    steps.expect(stock("pen"), 9)


def savepoint():
    with Session.begin() as session:
        pad = session.scalars(sa.select(Item).filter_by(name="pad")).one()
        pad.stock = 6
        nested = session.begin_nested()
        pad.stock = 1
        session.flush()
        nested.rollback()
        try:
            with session.begin_nested():
                session.add(Item(name="pen", stock=1))
        except IntegrityError:
            pass
        steps.expect(pad.stock, 6)
    steps.expect(stock("pad"), 6)


def for_update():
    with Session.begin() as session:
        pen = session.scalars(sa.select(Item).filter_by(name="pen").with_for_update()).one()
        pen.stock -= 1
    with Session.begin() as session:
        locked = sa.select(Item.name).where(Item.stock < 8).with_for_update(skip_locked=True)
        steps.expect(sorted(session.scalars(locked)), ["ink", "pad"])
    steps.expect(stock("pen"), 8)


def refused(row):
    with Session() as session:
        session.add(row)
        return steps.expect_error(IntegrityError, session.commit).orig


def constraints_of_mariadb():
    steps.expect(refused(Item(name="pen", stock=1)).args[0], 1062)
    steps.expect(refused(Order(item_id=10**6, quantity=1)).args[0], 1452)
    steps.expect(refused(Item(name="cap")).args[0], 1048)


def constraints():
    if steps.on_mariadb:
        return constraints_of_mariadb()
    unique = refused(Item(name="pen", stock=1))
    steps.expect((unique.pgcode, unique.diag.constraint_name), ("23505", "item_name_key"))
    steps.expect(refused(Item(name="cap", stock=-1)).diag.constraint_name, "stock_left")
    steps.expect(refused(Order(item_id=10**6, quantity=1)).pgcode, "23503")
    steps.expect(refused(Item(name="cap")).pgcode, "23502")


def delete():
    with Session.begin() as session:
        session.execute(sa.delete(Order))
        session.delete(session.scalars(sa.select(Item).filter_by(name="pen")).one())
    steps.expect(stock("pen"), None)


steps.run(
    "SQLAlchemy " + sa.__version__,
    [connect, migrate, create, query, update, rollback, savepoint, for_update, constraints, delete],
)
