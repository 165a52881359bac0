/// All cases, in the order in which they run.
func allCases(_ effort: Effort) -> [Case] {
  [
    HubDelivery.cases, HubChurn.cases, HubMemory.cases, Write.cases, Latency.cases, Concurrency.cases, Read.cases,
    OwnTables.cases, Log.cases, Lists.cases, ListOneRow.cases, ListsMillion.cases, Scale.cases, WholeProcess.cases,
    Replicas.cases, OfflineWrites.cases,
  ].flatMap { $0(effort) }
}
