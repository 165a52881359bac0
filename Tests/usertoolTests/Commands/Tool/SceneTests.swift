import Foundation
import TestSupport
import Testing

@Suite(.bounded, .serialized) struct `Playing a scene` {
  @Test(arguments: zip(["screens", "login", "signals", "lottery"], [screens, login, signals, lottery]))
  func `each scene tells its steps, leaves no objects behind, and touches no database`(
    _ scene: String, _ text: String
  ) throws {
    let workspace = try Workspace()
    let outcome = try workspace.run("demo", scene)
    #expect(outcome.status == 0 && outcome.errors.isEmpty)
    #expect(outcome.output == text)
    #expect(workspace.bytes() == nil)
  }

  @Test func `on a terminal a scene pauses between its steps, and a signal ends it before the next one`() throws {
    // The pauses of the remaining steps take longer than five seconds.
    let session = try TerminalSession(
      ["demo", "screens"], columns: 120, rows: 40, in: Workspace(), [.wait(for: "Push FirstScreen"), .signal(SIGINT)])
    let output = String(decoding: session.output, as: UTF8.self)
    #expect(session.status == 130)
    #expect(!output.contains("The scene is over."), "\(output)")
  }
}

/// Entering a screen twice adds no listeners: their names are bound already.
private let screens = """
  A store with one user, "NIX", hair #000000, and no listeners.
    listeners: 0
  Push FirstScreen: bindAndFire FirstScreen.nameButton and FirstScreen.background
    FirstScreen.nameButton  NIX
    FirstScreen.background  #000000
    listeners: 0 before, 2 after, screens alive: 1
  Push SecondScreen: bindAndFire SecondScreen.nameButton and SecondScreen.background
    SecondScreen.nameButton  NIX
    SecondScreen.background  #000000
    listeners: 2 before, 4 after, screens alive: 2
  Push ThirdScreen: bindAndFire ThirdScreen.nameButton and ThirdScreen.background
    ThirdScreen.nameButton  NIX
    ThirdScreen.background  #000000
    listeners: 4 before, 6 after, screens alive: 3
  Back to the first screen: the others are popped, without unbinding their listeners.
    listeners: 6
  Push SecondScreen: bindAndFire SecondScreen.nameButton and SecondScreen.background
    SecondScreen.nameButton  NIX
    SecondScreen.background  #000000
    listeners: 6 before, 6 after: its names were already bound, screens alive: 3
  Push ThirdScreen: bindAndFire ThirdScreen.nameButton and ThirdScreen.background
    ThirdScreen.nameButton  NIX
    ThirdScreen.background  #000000
    listeners: 6 before, 6 after: its names were already bound, screens alive: 3
  On the third screen the field shows "NIX". The user types "Zoë":
    FirstScreen.nameButton  Zoë
    SecondScreen.nameButton  Zoë
    ThirdScreen.nameButton  Zoë
    listeners: 6
  A new name and a new color in one write are one round; each listener is called once:
    FirstScreen.nameButton  Zoe
    FirstScreen.background  #a52a2a
    SecondScreen.nameButton  Zoe
    SecondScreen.background  #a52a2a
    ThirdScreen.nameButton  Zoe
    ThirdScreen.background  #a52a2a
    listeners: 6
  The same with unnamed closures: first, second, third screen, pop, second and third again
    listeners: 5, for three screens
  Rename to "NIX": screens that were entered twice are called twice.
    FirstScreen  NIX
    SecondScreen  NIX
    ThirdScreen  NIX
    SecondScreen  NIX
    ThirdScreen  NIX
  Removing them requires every token. With names there is no token to keep.
    listeners: 0
  The scene is over.
    objects alive: 0

  """

private let login = """
  A manager without a user and without observers.
    observers: 0
  The label appears: it shows the current user and starts to observe.
    label  (nobody)
    observers: 1
  Zoë logs in:
    label  Zoë
    observers: 1
  The user logs out:
    label  (nobody)
    observers: 1
  The label disappears and releases its token.
    observers: 0
  NIX logs in:
    observers: 0
  The label appears: it shows the current user and starts to observe.
    label  NIX
    observers: 1
  A second observer counts only logins; then Ada logs in:
    label  Ada
    counter  1
    observers: 2
  Its token is disposed, which removes the observer.
    observers: 1
  The scene is over.
    objects alive: 0

  """

private let signals = """
  A field's text is a signal; a label subscribes to it, in capitals and without repetitions.
    label  (empty)
    objects alive: 2
  Typed "z":
    label  Z
  Typed "Z":
    (the same in capitals: the label receives nothing)
  Typed "Zo":
    label  ZO
  The token is disposed; then typed "Zoë":
    (the label receives nothing)
  For each text two chained requests: the users with that name, then the details of the first.
  Typed "":
    details  nobody
  Typed "Ada":
    details  Ada, hair #a52a2a
  Typed "Zoë":
    details  Zoë, hair #000000
    objects alive: 2
  The scene is over.
    objects alive: 0

  """

private let lottery = """
  Five chains are bound; the head of each, a property of the lottery, has passed its value to the others.
    serial  0, red
    win rate  10.0
    code  000
    win code  123
    result  No luck
    members: 13, objects alive: 8
  The serial's label is edited: "4". The number follows, and the color with that index.
    lottery.serial  4
    serial  4, green
  The slider is moved to 12.75. The label shows one decimal place.
    lottery.winRate  12.75
    win rate  12.8
  "777" is typed as the win code, and then drawn.
    code  777
    win code  777
  "7777" is typed: the field's filter accepts at most three characters. The field is reset, and nothing else changes.
    win code: a filter of Field.text refused “7777”
    field  777
    win code  777
  The code and the win code are equal:
    block “log”: true
    result  You win
  The scene is over.
    objects alive: 0

  """
