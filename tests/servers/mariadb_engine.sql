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
-- Foreign keys
CREATE TABLE p (id INT PRIMARY KEY, a INT, b VARCHAR(20), UNIQUE (a, b)) ENGINE=InnoDB; INSERT INTO p VALUES (1, 1, 'x'), (2, 2, 'y'), (3, 3, 'z'), (4, 4, NULL);
CREATE TABLE c1 (id INT PRIMARY KEY, p INT NOT NULL, CONSTRAINT to_p FOREIGN KEY (p) REFERENCES p (id)) ENGINE=InnoDB;
CREATE TABLE c2 (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE ON UPDATE CASCADE) ENGINE=InnoDB;
CREATE TABLE c3 (id INT PRIMARY KEY, a INT, b VARCHAR(20), FOREIGN KEY (a, b) REFERENCES p (a, b) ON DELETE SET NULL ON UPDATE CASCADE) ENGINE=InnoDB;
CREATE TABLE c4 (id INT PRIMARY KEY, up INT, FOREIGN KEY (up) REFERENCES c4 (id) ON DELETE CASCADE) ENGINE=InnoDB;
CREATE TABLE c5 (id INT PRIMARY KEY, c2 INT, FOREIGN KEY (c2) REFERENCES c2 (id) ON DELETE NO ACTION) ENGINE=InnoDB;
SHOW CREATE TABLE c1; SHOW CREATE TABLE c2; SHOW CREATE TABLE c3; SHOW CREATE TABLE c5;
INSERT INTO c1 VALUES (1, 1); INSERT INTO c1 VALUES (2, 9); INSERT INTO c1 VALUES (3, 2), (4, 8); SELECT * FROM c1;
INSERT INTO c2 VALUES (1, 2), (2, 3), (3, NULL), (4, 3); INSERT INTO c3 VALUES (1, 2, 'y'), (2, 3, 'z'), (3, 7, NULL), (4, NULL, 'q'); INSERT INTO c3 VALUES (5, 2, 'z');
UPDATE c1 SET p = 2 WHERE id = 1; UPDATE c1 SET p = 5 WHERE id = 1; SELECT * FROM c1;
DELETE FROM p WHERE id = 2; UPDATE p SET id = 20 WHERE id = 2; SELECT * FROM p ORDER BY id;
UPDATE c1 SET p = 1; UPDATE p SET id = 20, b = 'yy' WHERE id = 2; SELECT * FROM p ORDER BY id; SELECT * FROM c2 ORDER BY id; SELECT * FROM c3 ORDER BY id;
INSERT INTO c5 VALUES (1, 2); DELETE FROM p WHERE id = 3; SELECT * FROM p ORDER BY id; SELECT * FROM c2 ORDER BY id; DELETE FROM c5; DELETE FROM p WHERE id = 3; SELECT * FROM c2 ORDER BY id; SELECT * FROM c3 ORDER BY id;
INSERT INTO c4 VALUES (1, 1), (2, 1), (3, 2), (4, 3), (5, NULL); INSERT INTO c4 VALUES (6, 60); DELETE FROM c4 WHERE id = 2; SELECT * FROM c4 ORDER BY id; DELETE FROM c4 WHERE id = 1; SELECT * FROM c4;
BEGIN; DELETE FROM p WHERE id = 20; SELECT * FROM c2 ORDER BY id; ROLLBACK; SELECT * FROM c2 ORDER BY id; REPLACE INTO p VALUES (20, 2, 'again'); SELECT * FROM c2 ORDER BY id; SELECT * FROM c3 ORDER BY id;
INSERT IGNORE INTO c1 VALUES (50, 50), (51, 1); SELECT * FROM c1 ORDER BY id; DELETE IGNORE FROM p; SELECT * FROM p ORDER BY id;
TRUNCATE p; DROP TABLE p; SET foreign_key_checks = 0; INSERT INTO c1 VALUES (60, 60); SET foreign_key_checks = 1; SELECT * FROM c1 ORDER BY id;
ALTER TABLE c1 DROP FOREIGN KEY to_p; INSERT INTO c1 VALUES (70, 70); DELETE FROM c1 WHERE p <> 1; ALTER TABLE c1 ADD FOREIGN KEY (p) REFERENCES p (id) ON DELETE CASCADE; ALTER TABLE c1 ADD COLUMN more INT; SHOW CREATE TABLE c1; INSERT INTO c1 (id, p) VALUES (80, 80);
RENAME TABLE p TO q; INSERT INTO c1 (id, p) VALUES (90, 90); DELETE FROM q WHERE id = 1; SELECT * FROM c1; RENAME TABLE q TO p;
CREATE TABLE wrong (id INT PRIMARY KEY, p VARCHAR(5), FOREIGN KEY (p) REFERENCES p (id)) ENGINE=InnoDB; CREATE TABLE wrong (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES nothing (id)) ENGINE=InnoDB;
SELECT constraint_name, table_name, column_name, ordinal_position, referenced_table_name, referenced_column_name FROM information_schema.key_column_usage WHERE table_schema = 'shop' AND referenced_table_name IS NOT NULL ORDER BY 1, 4;
SELECT constraint_name, update_rule, delete_rule, table_name, referenced_table_name FROM information_schema.referential_constraints WHERE constraint_schema = 'shop' ORDER BY 1;
SELECT constraint_name, constraint_type, table_name FROM information_schema.table_constraints WHERE table_schema = 'shop' AND constraint_type = 'FOREIGN KEY' ORDER BY 1;
DROP TABLE c1, c2, c3, c4, c5;
