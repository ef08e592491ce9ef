-- has values of other kinds
CREATE TABLE runs (run,dir,started,started_utc,question,place,accelerator,rounds,stacks,workloads,cells,failed,sealed);
INSERT INTO runs VALUES (x'1b5b324a',NULL,1,2,char(27)||'[2J',-1,x'00',9e99,-1,'x',NULL,'y',9223372036854775807);
CREATE TRIGGER t BEFORE DELETE ON runs BEGIN SELECT RAISE(IGNORE); END;
PRAGMA user_version = 1;
