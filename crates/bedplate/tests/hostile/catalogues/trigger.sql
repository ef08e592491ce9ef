-- puts a row that leads elsewhere back when it is deleted
CREATE TABLE runs (run TEXT PRIMARY KEY, dir TEXT NOT NULL, started TEXT NOT NULL, started_utc TEXT NOT NULL, question TEXT NOT NULL, place TEXT NOT NULL, accelerator TEXT, rounds INTEGER NOT NULL, stacks INTEGER NOT NULL, workloads INTEGER NOT NULL, cells INTEGER NOT NULL, failed INTEGER NOT NULL, sealed INTEGER NOT NULL) STRICT; CREATE INDEX runs_by_time ON runs (started_utc DESC, run DESC); PRAGMA user_version = 1;
CREATE TRIGGER t AFTER DELETE ON runs BEGIN INSERT INTO runs SELECT 'x','@CASE@','2099','2099','?','local',NULL,1,1,1,1,0,0; END;
INSERT INTO runs SELECT 'y','@CASE@','2099','2099','?','local',NULL,1,1,1,1,0,0;
