import Foundation
import UserStore
import UserStoreFoundation

enum Role: String, Codable {
  case member, admin
}

struct Address: Codable, Equatable {
  var street: String
  var zip: String
  var floor: Int?
}

/// A profile with defaults and a renamed attribute.
struct Account: UserStore.Profile, Equatable {
  var name: String
  var email: String?
  var role = Role.member
  var address: Address?
  var logins = 0

  enum CodingKeys: String, CodingKey {
    case name, email = "e-mail", role, address, logins
  }

  static let defaults: Account? = Account(name: "")
}

/// A profile without defaults, with every kind of value.
struct Everything: UserStore.Profile, Equatable {
  var name = "Zoë"
  var hairColor: UserStore.Color?
  var count = 1
  var ratio = 0.5
  var isActive = true
  var small: Int8 = -3
  var large: UInt64 = 4
  var single: Float = 0.25
  var role = Role.admin
  var bytes: [UInt8] = [0, 255]
  var tags = ["b", "a"]
  var groups: Set<String> = ["x", "y", "z"]
  var limits = ["b": 1, "a": 2]
  var addresses = [Address(street: "Main Street", zip: "53111", floor: 2)]
  var friend: UserStore.User.ID? = UserStore.User.ID(3)
  var seen: Date? = Date(timeIntervalSince1970: 1_000_000.5)
  var data: Data? = Data([1, 2])
  var token: UUID? = UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F")
  var page: URL? = URL(string: "https://example.com/zoe")
  var birthday: CalendarDay? = CalendarDay(year: 2001, month: 5, day: 17)
  var raw: StoredValue? = .blob([7])

  enum CodingKeys: String, CodingKey {
    case name, hairColor = "hair_color", count, ratio, isActive = "is_active", small, large, single, role, bytes, tags,
      groups
    case limits, addresses, friend, seen, data, token, page, birthday, raw
  }
}
