"""Django's ORM: models, a migration made by makemigrations, and the steps over them."""

import os
import shutil
import sys
import tempfile

import steps

project = tempfile.mkdtemp(prefix="cupel-django-")
os.makedirs(os.path.join(project, "shop", "migrations"))
for folder in ("shop", "shop/migrations"):
    open(os.path.join(project, folder, "__init__.py"), "w").close()
with open(os.path.join(project, "shop", "models.py"), "w") as out:
    out.write(
        """
from django.db import models


class Item(models.Model):
    name = models.CharField(max_length=50, unique=True)
    stock = models.IntegerField()
    details = models.JSONField(default=dict)

    class Meta:
        constraints = [models.CheckConstraint(check=models.Q(stock__gte=0), name="stock_left")]


class Order(models.Model):
    item = models.ForeignKey(Item, on_delete=models.PROTECT, related_name="orders")
    quantity = models.IntegerField()
    placed = models.DateTimeField(auto_now_add=True)
"""
    )
sys.path.insert(0, project)

import django  # noqa: E402
from django.conf import settings  # noqa: E402

settings.configure(
    INSTALLED_APPS=["django.contrib.contenttypes", "django.contrib.auth", "shop"],
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends." + ("mysql" if steps.on_mariadb else "postgresql"),
            "HOST": steps.host,
            "PORT": steps.port,
            "USER": steps.user,
            "NAME": steps.database,
        }
    },
    DEFAULT_AUTO_FIELD="django.db.models.BigAutoField",
    USE_TZ=True,
)
django.setup()

from django.core.management import call_command  # noqa: E402
from django.db import IntegrityError, connection, transaction  # noqa: E402
from django.db.models import Count, F, ProtectedError, Sum  # noqa: E402
from shop.models import Item, Order  # noqa: E402


def connect():
    connection.ensure_connection()
    steps.expect(connection.introspection.table_names(), [])


def migrate():
    call_command("makemigrations", "shop", verbosity=0)
    call_command("migrate", verbosity=0)
    steps.expect("shop_item" in connection.introspection.table_names(), True)
    call_command("migrate", "shop", "zero", verbosity=0)
    call_command("migrate", verbosity=0)


def create():
    pen = Item.objects.create(name="pen", stock=10, details={"colour": "blue"})
    Item.objects.bulk_create([Item(name="ink", stock=5), Item(name="pad", stock=7)])
    Order.objects.create(item=pen, quantity=2)
    _, made = Item.objects.get_or_create(name="pen", defaults={"stock": 0})
    steps.expect((Item.objects.count(), made), (3, False))


def query():
    names = Item.objects.filter(stock__gt=5).order_by("name").values_list("name", flat=True)
    steps.expect(list(names), ["pad", "pen"])
    # This Django compares values of JSON as another version of MariaDB did.
    blue = {"details__has_key": "colour"} if steps.on_mariadb else {"details__colour": "blue"}
    steps.expect(Item.objects.get(**blue).name, "pen")
    steps.expect(Order.objects.select_related("item").get().item.name, "pen")
    counted = Item.objects.annotate(n=Count("orders")).values_list("name", "n").order_by("name")
    steps.expect(list(counted), [("ink", 0), ("pad", 0), ("pen", 1)])
    steps.expect(Item.objects.aggregate(Sum("stock"))["stock__sum"], 22)


def update():
    ink = Item.objects.get(name="ink")
    ink.stock = 6
    ink.save()
    steps.expect(Item.objects.filter(name="ink").update(stock=F("stock") - 1), 1)
    steps.expect(Item.objects.get(name="ink").stock, 5)
    _, made = Item.objects.update_or_create(name="ink", defaults={"stock": 8})
    steps.expect((Item.objects.get(name="ink").stock, made), (8, False))


def rollback():
    with transaction.atomic():
        Item.objects.filter(name="pen").update(stock=9)
    try:
        with transaction.atomic():
            Item.objects.filter(name="pen").update(stock=1)
            steps.expect(Item.objects.get(name="pen").stock, 1)
            raise KeyError
    except KeyError:
        pass
    steps.expect(Item.objects.get(name="pen").stock, 9)


def savepoint():
    with transaction.atomic():
        Item.objects.filter(name="pad").update(stock=6)
        mark = transaction.savepoint()
        Item.objects.filter(name="pad").update(stock=1)
        transaction.savepoint_rollback(mark)
        try:
            with transaction.atomic():
                Item.objects.create(name="pen", stock=1)
        except IntegrityError:
            pass
        steps.expect(Item.objects.get(name="pad").stock, 6)
    steps.expect(Item.objects.get(name="pad").stock, 6)


def for_update():
    with transaction.atomic():
        pen = Item.objects.select_for_update().get(name="pen")
        pen.stock -= 1
        pen.save()
    with transaction.atomic():
        # This Django does not know that MariaDB can skip what is locked.
        found = Item.objects.select_for_update(skip_locked=not steps.on_mariadb).filter(stock__lt=8)
        steps.expect([item.name for item in found], ["pad"])
    steps.expect(Item.objects.get(name="pen").stock, 8)


def constraints_of_mariadb():
    unique = steps.expect_error(IntegrityError, lambda: Item.objects.create(name="pen", stock=1))
    steps.expect(unique.args[0], 1062)
    check = steps.expect_error(IntegrityError, lambda: Item.objects.create(name="cap", stock=-1))
    steps.expect((check.args[0], "stock_left" in check.args[1]), (4025, True))
    lost = steps.expect_error(
        IntegrityError, lambda: Order.objects.create(item_id=10**6, quantity=1)
    )
    steps.expect(lost.args[0], 1452)
    with connection.cursor() as cursor:
        kept = steps.expect_error(IntegrityError, lambda: cursor.execute("DELETE FROM shop_item"))
    steps.expect(kept.args[0], 1451)


def constraints():
    if steps.on_mariadb:
        return constraints_of_mariadb()
    unique = steps.expect_error(IntegrityError, lambda: Item.objects.create(name="pen", stock=1))
    steps.expect(unique.__cause__.pgcode, "23505")
    steps.expect(unique.__cause__.diag.constraint_name, "shop_item_name_key")
    check = steps.expect_error(IntegrityError, lambda: Item.objects.create(name="cap", stock=-1))
    steps.expect(check.__cause__.diag.constraint_name, "stock_left")
    lost = steps.expect_error(
        IntegrityError, lambda: Order.objects.create(item_id=10**6, quantity=1)
    )
    steps.expect(lost.__cause__.pgcode, "23503")
    steps.expect_error(ProtectedError, Item.objects.get(name="pen").delete)


def delete():
    Order.objects.all().delete()
    Item.objects.get(name="pen").delete()
    steps.expect(Item.objects.count(), 2)
    call_command("flush", verbosity=0, interactive=False)
    steps.expect(Item.objects.count(), 0)


try:
    steps.run(
        "Django " + django.get_version(),
        [connect, migrate, create, query, update, rollback, savepoint, for_update, constraints, delete],
    )
finally:
    shutil.rmtree(project)
