-- has a row that leads elsewhere
CREATE TABLE runs (run TEXT PRIMARY KEY, dir TEXT NOT NULL, started TEXT NOT NULL, started_utc TEXT NOT NULL, question TEXT NOT NULL, place TEXT NOT NULL, accelerator TEXT, rounds INTEGER NOT NULL, stacks INTEGER NOT NULL, workloads INTEGER NOT NULL, cells INTEGER NOT NULL, failed INTEGER NOT NULL, sealed INTEGER NOT NULL) STRICT; CREATE INDEX runs_by_time ON runs (started_utc DESC, run DESC); PRAGMA user_version = 1;
INSERT INTO runs SELECT 'x','@CASE@','2099','2099','?','local',NULL,1,1,1,1,0,0;
