import Testing

@testable import UserStore

@Suite(.bounded, .serialized) struct StoreErrorTests {
  private struct Other: Error {}

  @Test func `a catch names the code of an error`() throws {
    #expect(caught { throw StoreError(.closed, "the store is closed") } == "closed")
    #expect(caught { throw StoreError(.busy, "the database is locked") } == "another code")
    #expect(caught { throw Other() } == "another error")
  }

  @Test func `a code is printed by its name`() {
    #expect("\(StoreError.Code.badValue)" == "badValue")
  }

  @Test func `a catch in a function with typed throws names the code too`() throws {
    let store = try UserStore.forTests()
    store.close()
    do throws(StoreError) {
      _ = try store.page(after: nil)
      Issue.record("the store is closed")
    } catch StoreError.Code.closed {
    } catch {
      throw error
    }
  }

  private func caught(_ body: () throws -> Void) -> String {
    do { try body() } catch StoreError.Code.closed {
      return "closed"
    } catch is StoreError {
      return "another code"
    } catch {
      return "another error"
    }
    return "nothing"
  }
}
