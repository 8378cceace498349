-- What a client of MariaDB does, one client alone. The test runs it on MariaDB, too, and compares.
DROP DATABASE IF EXISTS shop; CREATE DATABASE shop CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci; USE shop;
-- Types, defaults, checks
CREATE TABLE customer (id INT AUTO_INCREMENT PRIMARY KEY, email VARCHAR(50) UNIQUE, b BIT(5), e ENUM('x','y'), s SET('a','b'), d DECIMAL(10,3), dt DATETIME(3), j JSON, bl LONGBLOB, f FLOAT, c CHAR(5), tm TIME, y YEAR, u BIGINT UNSIGNED, t TEXT, KEY (bl(10)), KEY (email, d), KEY (c DESC, d), CHECK (d IS NULL OR d < 1000)) ENGINE=InnoDB;
INSERT INTO customer (email,b,e,s,d,dt,j,bl,f,c,tm,y,u,t) VALUES ('A@x',b'10101','x','a,b',1.234,'2020-01-01 10:00:00.123','{"a":1}',x'00ff10',1.5,'abc','10:00:00',2020,18446744073709551615,REPEAT('ä',1000));
INSERT INTO customer (email,c,d) VALUES ('b@x','zzz',3),('c@x','abc',2),(NULL,NULL,NULL),(NULL,'mm',5);
SELECT id,email,BIN(b),e,s,d,dt,j,HEX(bl),f,c,tm,y,u,LENGTH(t) FROM customer ORDER BY id;
INSERT INTO customer (email) VALUES ('a@X');
INSERT INTO customer (d) VALUES (1000);
SELECT id FROM customer WHERE email = 'a@x';
SELECT LAST_INSERT_ID();
-- Indexes
SELECT id,c,d FROM customer ORDER BY c DESC, d, id;
SELECT id,c,d FROM customer ORDER BY c, d DESC, id;
SELECT id,c,d FROM customer FORCE INDEX (c) WHERE c > 'b' ORDER BY c DESC, d;
SELECT id FROM customer FORCE INDEX (email) WHERE email BETWEEN 'a' AND 'c' ORDER BY email DESC;
SELECT MAX(email), MIN(email), COUNT(DISTINCT c) FROM customer;
SELECT id FROM customer WHERE bl = x'00ff10' OR c = 'zzz' ORDER BY id;
SELECT c, COUNT(*), SUM(d) FROM customer GROUP BY c WITH ROLLUP;
-- Numbers of rows
INSERT INTO customer (id, email) VALUES (100, 'q'); INSERT INTO customer (email) VALUES ('r'); SELECT MAX(id), LAST_INSERT_ID() FROM customer;
UPDATE customer SET id = id + 1000 WHERE id < 3 ORDER BY id DESC; SELECT id FROM customer ORDER BY id;
INSERT INTO customer (email) VALUES ('r') ON DUPLICATE KEY UPDATE d = 7; SELECT id, d FROM customer WHERE email = 'r';
REPLACE INTO customer (id, email) VALUES (100, 'r'); SELECT id, email FROM customer WHERE id >= 100 ORDER BY id;
INSERT IGNORE INTO customer (id) VALUES (100), (200); SELECT id FROM customer WHERE id >= 100 ORDER BY id;
-- Joins, views, triggers, routines
CREATE TABLE pair (a INT, b INT, PRIMARY KEY (a, b), note VARCHAR(20)) ENGINE=InnoDB;
INSERT INTO pair SELECT id, id * 2, email FROM customer; SELECT pair.*, c.email FROM customer c LEFT JOIN pair ON c.id = pair.a ORDER BY c.id;
UPDATE customer c JOIN pair p ON c.id = p.a SET c.c = 'J', p.b = 0 WHERE p.a > 150; SELECT id, c FROM customer ORDER BY id; SELECT * FROM pair ORDER BY a;
DELETE c FROM customer c JOIN pair p ON c.id = p.a WHERE p.b = 0; SELECT COUNT(*) FROM customer;
CREATE VIEW with_email AS SELECT id, email FROM customer WHERE email IS NOT NULL; SELECT * FROM with_email ORDER BY id;
SELECT w.*, ROW_NUMBER() OVER (ORDER BY id) AS n FROM with_email w ORDER BY id;
CREATE TRIGGER more BEFORE INSERT ON pair FOR EACH ROW SET NEW.b = NEW.b + 1; INSERT INTO pair VALUES (50, 1, NULL); SELECT * FROM pair WHERE a = 50;
CREATE FUNCTION pairs() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM pair); SELECT pairs();
PREPARE s FROM 'SELECT id FROM customer WHERE email = ?'; SET @a = 'c@x'; EXECUTE s USING @a;
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r;
HANDLER customer OPEN; HANDLER customer READ `PRIMARY` >= (100); HANDLER customer CLOSE;
-- Transactions
BEGIN; INSERT INTO customer (email) VALUES ('s1'); SAVEPOINT s; INSERT INTO customer (email) VALUES ('s2'); INSERT INTO customer (email) VALUES ('s1'); ROLLBACK TO s; INSERT INTO customer (email) VALUES ('s3'); RELEASE SAVEPOINT s; COMMIT; SELECT email FROM customer WHERE email LIKE 's_' ORDER BY email;
BEGIN; UPDATE customer SET d = 1; DELETE FROM customer WHERE id < 100; SELECT COUNT(*), SUM(d) FROM customer; ROLLBACK; SELECT COUNT(*), SUM(d) FROM customer;
BEGIN; INSERT INTO pair VALUES (1,1,'x'),(50,1,'twice'); SELECT COUNT(*) FROM pair; COMMIT; SELECT COUNT(*) FROM pair;
DELETE FROM pair WHERE a = 50; INSERT INTO pair VALUES (50, 1, 'again'); SELECT * FROM pair WHERE a = 50;
SET autocommit = 0; INSERT INTO pair VALUES (60, 1, NULL); ROLLBACK; SET autocommit = 1; SELECT COUNT(*) FROM pair;
LOCK TABLES customer WRITE; INSERT INTO customer (email) VALUES ('locked'); UNLOCK TABLES; SELECT email FROM customer WHERE email = 'locked';
CREATE TEMPORARY TABLE own (a INT PRIMARY KEY) ENGINE=InnoDB; INSERT INTO own VALUES (1),(2); BEGIN; INSERT INTO own VALUES (3); ROLLBACK; SELECT * FROM own; DROP TABLE own;
-- Definitions
ALTER TABLE customer ADD COLUMN w INT DEFAULT 7, ADD UNIQUE by_w (w, id); SELECT id, w FROM customer WHERE w = 7 ORDER BY id;
ALTER TABLE customer ADD UNIQUE (w);
CREATE INDEX by_note ON pair (note(3)); SELECT a FROM pair WHERE note LIKE 'c@%'; DROP INDEX by_note ON pair;
ALTER TABLE customer RENAME COLUMN w TO v, MODIFY c VARCHAR(30); SELECT v, c FROM customer WHERE id = 3; SHOW CREATE TABLE customer;
TRUNCATE pair; SELECT COUNT(*) FROM pair; RENAME TABLE pair TO pairs; INSERT INTO pairs VALUES (1,2,'x'); SELECT * FROM pairs; DROP TABLE pairs;
CREATE TABLE part (id INT PRIMARY KEY, n INT) PARTITION BY HASH(id) PARTITIONS 3; INSERT INTO part VALUES (1,1),(2,2),(3,3),(4,4); UPDATE part SET n = n * 2; SELECT SUM(n) FROM part; SELECT * FROM part WHERE id = 3; ALTER TABLE part ADD COLUMN z INT DEFAULT 5; SELECT * FROM part ORDER BY id;
CREATE SEQUENCE sq NOCACHE; SELECT NEXTVAL(sq), NEXTVAL(sq); BEGIN; SELECT NEXTVAL(sq); ROLLBACK; SELECT NEXTVAL(sq); SELECT SETVAL(sq, 50); SELECT next_not_cached_value FROM sq;
CREATE TEMPORARY TABLE own (a INT PRIMARY KEY); BEGIN; INSERT INTO own VALUES (1); ALTER TABLE own ADD COLUMN b INT DEFAULT 2; INSERT INTO own VALUES (3, 4); SELECT * FROM own; COMMIT; SELECT * FROM own; TRUNCATE own; SELECT COUNT(*) FROM own; DROP TABLE own;
CREATE TABLE other_engine (a INT PRIMARY KEY) ENGINE=MyISAM; INSERT INTO other_engine VALUES (1), (2); ALTER TABLE other_engine ENGINE=InnoDB; SELECT * FROM other_engine; BEGIN; DELETE FROM other_engine; ROLLBACK; SELECT * FROM other_engine; ALTER TABLE other_engine ENGINE=MyISAM; SELECT * FROM other_engine;
CREATE TABLE made (a INT, b INT AS (a * 2) STORED, c INT AS (a + 1) VIRTUAL, KEY (c)); INSERT INTO made (a) VALUES (1),(2),(3); SELECT * FROM made WHERE c = 3; UPDATE made SET a = 10 WHERE a = 1; SELECT * FROM made WHERE c = 11; ALTER TABLE made DROP COLUMN b; SELECT * FROM made ORDER BY a;
CREATE TABLE letter (a VARCHAR(10) PRIMARY KEY); INSERT INTO letter VALUES ('a'); INSERT INTO letter VALUES ('A '); DELETE FROM letter; INSERT INTO letter VALUES ('A'); SELECT * FROM letter; UPDATE letter SET a = 'a'; SELECT * FROM letter;
CREATE TABLE long_unique (a TEXT, UNIQUE (a)); INSERT INTO long_unique VALUES ('x'),('y'); INSERT INTO long_unique VALUES ('x'); SELECT * FROM long_unique ORDER BY a;
CREATE TABLE place (g GEOMETRY); INSERT INTO place VALUES (POINT(1, 2)); SELECT ST_AsText(g) FROM place;
CREATE TABLE copy AS SELECT id, email FROM customer; SELECT COUNT(*) FROM copy; CREATE TABLE empty_copy LIKE customer; SELECT COUNT(*) FROM empty_copy;
SELECT table_name, engine, table_type FROM information_schema.tables WHERE table_schema = 'shop' ORDER BY table_name;
SELECT table_name, index_name, column_name, seq_in_index FROM information_schema.statistics WHERE table_schema = 'shop' ORDER BY 1, 2, 4;
DROP TABLE nothing; DROP TABLE IF EXISTS nothing; SELECT * FROM nothing;
