<?php
// Doctrine's ORM over PDO: entities, the schema tool and the steps over them. Each line is
// `ok NAME` or `failed NAME: WHY`, as of steps.py.

require_once 'Symfony/Component/Cache/autoload.php';
require_once 'Doctrine/ORM/autoload.php';

use Doctrine\Common\Collections\ArrayCollection;
use Doctrine\DBAL\DriverManager;
use Doctrine\DBAL\Exception as DbalException;
use Doctrine\DBAL\LockMode;
use Doctrine\ORM\EntityManager;
use Doctrine\ORM\Mapping as ORM;
use Doctrine\ORM\ORMSetup;
use Doctrine\ORM\Tools\SchemaTool;

#[ORM\Entity, ORM\Table(name: 'item')]
class Item
{
    #[ORM\Id, ORM\GeneratedValue, ORM\Column(type: 'integer')]
    public ?int $id = null;
    #[ORM\OneToMany(mappedBy: 'item', targetEntity: Purchase::class, cascade: ['persist'])]
    public $orders;

    public function __construct(
        #[ORM\Column(type: 'string', length: 50, unique: true)] public string $name,
        #[ORM\Column(type: 'integer', options: ['check' => 'CHECK (stock >= 0)'])] public int $stock,
        #[ORM\Column(type: 'json', options: ['jsonb' => true])] public array $details = [],
    ) {
        $this->orders = new ArrayCollection();
    }
}

#[ORM\Entity, ORM\Table(name: 'orders')]
class Purchase
{
    #[ORM\Id, ORM\GeneratedValue(strategy: 'IDENTITY'), ORM\Column(type: 'integer')]
    public ?int $id = null;

    public function __construct(
        #[ORM\ManyToOne(inversedBy: 'orders'), ORM\JoinColumn(nullable: false)] public Item $item,
        #[ORM\Column(type: 'integer')] public int $quantity,
    ) {
    }
}

function open(): EntityManager
{
    $connection = DriverManager::getConnection([
        'driver' => 'pdo_pgsql',
        'host' => getenv('PGHOST'),
        'port' => (int) getenv('PGPORT'),
        'user' => getenv('PGUSER'),
        'dbname' => getenv('PGDATABASE'),
    ]);
    $proxies = sys_get_temp_dir();
    return new EntityManager($connection, ORMSetup::createAttributeMetadataConfiguration([], true, $proxies));
}

function expect($seen, $wanted): void
{
    if ($seen !== $wanted) {
        throw new LogicException('saw ' . json_encode($seen) . ', not ' . json_encode($wanted));
    }
}

function expectError(string $kind, callable $action): Throwable
{
    try {
        $action();
    } catch (Throwable $error) {
        if ($error instanceof $kind) {
            return $error;
        }
        throw $error;
    }
    throw new LogicException("no $kind");
}

// The error closes an entity manager, so each of these has its own.
function refused(string $kind, callable $action): void
{
    $own = open();
    expectError($kind, function () use ($own, $action) {
        $action($own);
        $own->flush();
    });
    $own->close();
}

$em = open();
$named = fn (string $name) => $em->getRepository(Item::class)->findOneBy(['name' => $name]);
$stock = fn (string $name) => $em->getConnection()->fetchOne('select stock from item where name = ?', [$name]);
$tool = new SchemaTool($em);
$metadata = [$em->getClassMetadata(Item::class), $em->getClassMetadata(Purchase::class)];

$steps = [
    'connect' => function () use ($em) {
        expect($em->getConnection()->fetchOne('select 1'), 1);
        expect($em->getConnection()->createSchemaManager()->listTableNames(), []);
    },
    'migrate' => function () use ($em, $tool, $metadata) {
        $tool->createSchema($metadata);
        $tool->updateSchema($metadata);
        $tool->dropSchema($metadata);
        $tool->createSchema($metadata);
        $keys = $em->getConnection()->createSchemaManager()->listTableForeignKeys('orders');
        expect($keys[0]->getForeignTableName(), 'item');
    },
    'create' => function () use ($em) {
        $pen = new Item('pen', 10, ['colour' => 'blue']);
        $pen->orders->add(new Purchase($pen, 2));
        $em->persist($pen);
        $em->persist(new Item('ink', 5));
        $em->persist(new Item('pad', 7));
        $em->flush();
        $em->clear();
        expect($em->getRepository(Item::class)->count([]), 3);
    },
    'query' => function () use ($em, $named) {
        $many = $em->createQuery('select i.name from Item i where i.stock > 5 order by i.name');
        expect($many->getSingleColumnResult(), ['pad', 'pen']);
        $joined = $em->createQuery('select i, o from Item i join i.orders o')->getSingleResult();
        expect([$joined->details, $joined->orders[0]->quantity], [['colour' => 'blue'], 2]);
        expect((int) $em->createQuery('select sum(i.stock) from Item i')->getSingleScalarResult(), 22);
    },
    'update' => function () use ($em, $named, $stock) {
        $named('ink')->stock = 6;
        $em->flush();
        $query = $em->createQuery('update Item i set i.stock = i.stock - 1 where i.name = :name');
        expect($query->execute(['name' => 'ink']), 1);
        expect($stock('ink'), 5);
        $em->clear();
    },
    'rollback' => function () use ($em, $named, $stock) {
        $em->wrapInTransaction(function () use ($named) {
            $named('pen')->stock = 9;
        });
        $em->beginTransaction();
        $named('pen')->stock = 1;
        $em->flush();
        expect($stock('pen'), 1);
        $em->rollback();
        $em->clear();
        expect($named('pen')->stock, 9);
    },
    'savepoint' => function () use ($em, $stock) {
        $connection = $em->getConnection();
        $connection->setNestTransactionsWithSavepoints(true);
        $connection->beginTransaction();
        $connection->update('item', ['stock' => 6], ['name' => 'pad']);
        $connection->beginTransaction();
        $connection->update('item', ['stock' => 1], ['name' => 'pad']);
        expectError(
            DbalException\UniqueConstraintViolationException::class,
            fn () => $connection->insert('item', ['id' => 77, 'name' => 'pen', 'stock' => 1, 'details' => '{}']),
        );
        $connection->rollBack();
        expect($stock('pad'), 6);
        $connection->commit();
        expect($stock('pad'), 6);
        $em->clear();
    },
    'for-update' => function () use ($em, $named, $stock) {
        $em->wrapInTransaction(function () use ($em, $named) {
            $pen = $em->find(Item::class, $named('pen')->id, LockMode::PESSIMISTIC_WRITE);
            $pen->stock -= 1;
            $query = $em->createQuery("select i from Item i where i.name = 'pad'");
            expect($query->setLockMode(LockMode::PESSIMISTIC_READ)->getSingleResult()->stock, 6);
        });
        expect($stock('pen'), 8);
    },
    'constraints' => function () {
        refused(DbalException\UniqueConstraintViolationException::class, function ($own) {
            $own->persist(new Item('pen', 1));
        });
        refused(DbalException\ForeignKeyConstraintViolationException::class, function ($own) {
            $own->getConnection()->insert('orders', ['item_id' => 1000000, 'quantity' => 1]);
        });
        refused(DbalException\NotNullConstraintViolationException::class, function ($own) {
            $own->getConnection()->insert('item', ['id' => 77, 'name' => 'cap', 'details' => '{}']);
        });
    },
    'delete' => function () use ($em, $named) {
        $em->createQuery('delete from Purchase o')->execute();
        $em->remove($named('pen'));
        $em->flush();
        expect($em->getRepository(Item::class)->count([]), 2);
    },
];

echo 'version Doctrine ORM ' . Doctrine\ORM\Version::VERSION . "\n";
$failed = 0;
foreach ($steps as $name => $step) {
    try {
        $step();
        echo "ok $name\n";
    } catch (Throwable $error) {
        ++$failed;
        echo "failed $name: " . get_class($error) . ': ' . preg_replace('/\s+/', ' ', $error->getMessage()) . "\n";
        fwrite(STDERR, $error . "\n");
    }
}
exit($failed === 0 ? 0 : 1);
