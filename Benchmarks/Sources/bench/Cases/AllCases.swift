/// All cases, in the order in which they run.
func allCases(_ effort: Effort) -> [Case] {
  HubDelivery.cases(effort) + HubChurn.cases(effort) + HubMemory.cases(effort) + Write.cases(effort)
    + Latency.cases(effort) + Concurrency.cases(effort)
}
