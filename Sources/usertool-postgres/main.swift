import UserStore
import UserStorePostgres
import UserToolCommands

// Runs the same commands, also on databases in PostgreSQL.
await runUserTool(
  ServerEngine { address, configuration throws(StoreError) in
    try UserStore(postgres: PostgresConfiguration(address, configuration))
  } check: { address, configuration throws(StoreError) in
    try UserStore.check(postgres: PostgresConfiguration(address, configuration))
  } allow: { role, mayWrite, address throws(StoreError) in
    try UserStore.setRights(mayWrite ? .write : .read, of: role, postgres: PostgresConfiguration(address))
  })
