-- is a view without end
CREATE VIEW runs AS WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT 'x' AS run, '@CASE@' AS dir, '2099' AS started, '2099' AS started_utc, '?' AS question, 'local' AS place, NULL AS accelerator, 1 AS rounds, 1 AS stacks, 1 AS workloads, 1 AS cells, 0 AS failed, 0 AS sealed FROM c;
CREATE TRIGGER a INSTEAD OF DELETE ON runs BEGIN SELECT 1; END;
CREATE TRIGGER b INSTEAD OF INSERT ON runs BEGIN SELECT 1; END;
PRAGMA user_version = 1;
