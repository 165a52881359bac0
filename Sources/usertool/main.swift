import UserToolCommands

await runUserTool()
