-- How far the oldest change set was looked through: a huge one is forgotten by many short steps, of several processes.

ALTER TABLE meta ADD COLUMN searched INTEGER NOT NULL DEFAULT 0;  -- no row after the horizon, through this one, ends a set
ALTER TABLE meta ADD COLUMN sized INTEGER NOT NULL DEFAULT 0;     -- the last change of the oldest set that was counted
ALTER TABLE meta ADD COLUMN size INTEGER NOT NULL DEFAULT 0;      -- of the changes after the horizon, through that one
