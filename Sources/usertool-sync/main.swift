import UserStore
import UserStoreSync
import UserStoreSyncHTTP
import UserToolCommands

// Runs the same commands, also `follow`.
await runUserTool(
  sync: SyncEngine { address, tokenFile in
    try SyncServer(address, token: tokenFile.map { .file($0) })
  })
