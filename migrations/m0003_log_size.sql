-- How large the log is, as far as it was counted: a log that must stay within so many bytes is not read whole each time.

ALTER TABLE meta ADD COLUMN measured INTEGER NOT NULL DEFAULT 0;  -- the last change that was counted
ALTER TABLE meta ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;     -- of the changes after the horizon, through that one
