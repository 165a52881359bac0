import UserStore

extension Attribute where Value == Int {
  static var age: Attribute { Attribute("age") }
}
