import SwiftOperators
import SwiftSyntax

/// Finds the mutations of one file.
final class Finder: SyntaxVisitor {
  private let file: String
  private let converter: SourceLocationConverter
  private(set) var mutations: [Mutation] = []

  init(file: String, tree: SourceFileSyntax) {
    self.file = file
    converter = SourceLocationConverter(fileName: file, tree: tree)
    super.init(viewMode: .sourceAccurate)
  }

  private func add(
    _ kind: Mutation.Kind, _ node: some SyntaxProtocol, _ form: Mutation.Form, after: String, before: String? = nil
  ) {
    let start = node.positionAfterSkippingLeadingTrivia
    let location = converter.location(for: start)
    mutations.append(
      Mutation(
        file: file, line: location.line, column: location.column, kind: kind, start: start.utf8Offset,
        end: node.endPositionBeforeTrailingTrivia.utf8Offset, form: form, before: before ?? node.trimmedDescription,
        after: after))
  }

  // MARK: What is not mutated

  override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
    // The code of other systems is not compiled here.
    .skipChildren
  }

  override func visit(_ node: AttributeSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: EnumCaseDeclSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: SwitchCaseItemSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: AvailabilityConditionSyntax) -> SyntaxVisitorContinueKind { .skipChildren }
  override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind { .skipChildren }

  /// What stops the program if the library is wrong has no place in a test.
  private static let traps: Set = ["assert", "assertionFailure", "fatalError", "precondition", "preconditionFailure"]

  override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
    Self.traps.contains(node.calledExpression.trimmedDescription) ? .skipChildren : .visitChildren
  }

  // MARK: Operators

  private static let alternatives: [String: [String]] = [
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="],
    "===": ["!=="],
    "!==": ["==="], "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["+"], "/": ["*"], "%": ["/"],
    "&+": ["&-"],
    "&-": ["&+"], "&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"],
  ]
  private static let assignments = ["+=": "-=", "-=": "+=", "*=": "+=", "&+=": "&-=", "|=": "&=", "&=": "|="]

  override func visit(_ node: InfixOperatorExprSyntax) -> SyntaxVisitorContinueKind {
    guard let name = node.operator.as(BinaryOperatorExprSyntax.self)?.operator.text else { return .visitChildren }
    let isText = [node.leftOperand, node.rightOperand].contains { $0.is(StringLiteralExprSyntax.self) }
    for other in Self.alternatives[name] ?? [] where !(isText && name == "+") {
      let after = "\(node.leftOperand.trimmedDescription) \(other) \(node.rightOperand.trimmedDescription)"
      add(.operator, node, .choice, after: after)
    }
    return .visitChildren
  }

  // MARK: Literals

  override func visit(_ node: BooleanLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    add(.literal, node, .choice, after: node.literal.text == "true" ? "false" : "true")
    return .skipChildren
  }

  override func visit(_ node: IntegerLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    let text = node.literal.text
    add(.literal, node, .choice, after: text == "0" ? "1" : text == "1" ? "2" : "\(text) - 1")
    return .skipChildren
  }

  /// Words of SQL that have an opposite.
  private static let words = [
    (" >= ", " > "), (" > ", " >= "), (" <= ", " < "), (" < ", " <= "), (" = ", " <> "), (" AND ", " OR "),
    (" IS NOT NULL", " IS NULL"), (" NOT EXISTS", " EXISTS"), (" DESC", " ASC"), ("min(", "max("), ("max(", "min("),
    (" + 1", ""), (" UNION ALL ", " UNION "),
  ]

  override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
    let text = node.trimmedDescription
    guard ["SELECT ", "INSERT ", "UPDATE ", "DELETE "].contains(where: text.contains) else { return .visitChildren }
    for (word, other) in Self.words {
      guard let range = text.firstRange(of: word) else { continue }
      var after = text
      after.replaceSubrange(range, with: other)
      add(.literal, node, .choice, after: after)
    }
    return .visitChildren
  }

  // MARK: Conditions

  override func visit(_ node: ConditionElementSyntax) -> SyntaxVisitorContinueKind {
    if case .expression(let condition) = node.condition {
      add(.negation, condition, .opposite, after: "!(\(condition.trimmedDescription))")
    }
    return .visitChildren
  }

  override func visit(_ node: TernaryExprSyntax) -> SyntaxVisitorContinueKind {
    add(.negation, node.condition, .opposite, after: "!(\(node.condition.trimmedDescription))")
    return .visitChildren
  }

  override func visit(_ node: WhereClauseSyntax) -> SyntaxVisitorContinueKind {
    add(.negation, node.condition, .opposite, after: "!(\(node.condition.trimmedDescription))")
    return .visitChildren
  }

  // MARK: Statements

  override func visit(_ node: CodeBlockItemSyntax) -> SyntaxVisitorContinueKind {
    switch node.item {
    case .stmt(let statement): visitStatement(statement, in: node)
    case .expr(let expression): visitExpression(expression, in: node)
    case .decl: break
    }
    return .visitChildren
  }

  private func visitStatement(_ statement: StmtSyntax, in node: CodeBlockItemSyntax) {
    if let statement = statement.as(ReturnStmtSyntax.self) {
      guard let expression = statement.expression else { return addRemoval(of: node) }
      addResult(expression, of: node)
    } else if statement.is(BreakStmtSyntax.self) || statement.is(ContinueStmtSyntax.self)
      || statement.is(ThrowStmtSyntax.self)
    {
      if !isEndOfCase(statement, node) { addRemoval(of: node) }
    }
  }

  /// Whether a statement is the `break` with which a case ends, or which is all that it has.
  private func isEndOfCase(_ statement: StmtSyntax, _ node: CodeBlockItemSyntax) -> Bool {
    guard let statement = statement.as(BreakStmtSyntax.self), statement.label == nil else { return false }
    let items = node.parent?.as(CodeBlockItemListSyntax.self)
    return items?.last == node && items?.parent?.is(SwitchCaseSyntax.self) ?? false
  }

  private func visitExpression(_ expression: ExprSyntax, in node: CodeBlockItemSyntax) {
    if isResult(node) { addResult(expression, of: node) }
    let effect = withoutKeywords(expression)
    if let call = effect.as(FunctionCallExprSyntax.self) {
      if !Self.traps.contains(call.calledExpression.trimmedDescription) { addRemoval(of: node) }
    } else if let assignment = effect.as(InfixOperatorExprSyntax.self) {
      if assignment.operator.is(AssignmentExprSyntax.self) {
        // Left out of an initializer, an assignment would leave a property without a value.
        if !node.isIn(InitializerDeclSyntax.self) { addRemoval(of: node) }
      } else if let name = assignment.operator.as(BinaryOperatorExprSyntax.self)?.operator.text,
        let other = Self.assignments[name]
      {
        let (left, right) = (assignment.leftOperand.trimmedDescription, assignment.rightOperand.trimmedDescription)
        let keywords = expression.trimmedDescription.dropLast(effect.trimmedDescription.count)
        add(.operator, expression, .alternative, after: "\(keywords)\(left) \(other) \(right)")
        addRemoval(of: node)
      }
    } else if effect.is(PostfixOperatorExprSyntax.self) || effect.is(OptionalChainingExprSyntax.self) {
      addRemoval(of: node)
    }
  }

  private func addRemoval(of node: CodeBlockItemSyntax) {
    // The else of a guard must leave.
    let block = node.parent?.as(CodeBlockItemListSyntax.self)
    if block?.parent?.parent?.is(GuardStmtSyntax.self) == true, node == block?.last { return }
    add(.removal, node.item, .omission, after: "")
  }

  private func withoutKeywords(_ expression: ExprSyntax) -> ExprSyntax {
    if let inner = expression.as(TryExprSyntax.self)?.expression { return withoutKeywords(inner) }
    if let inner = expression.as(AwaitExprSyntax.self)?.expression { return withoutKeywords(inner) }
    if let inner = expression.as(UnsafeExprSyntax.self)?.expression { return withoutKeywords(inner) }
    return expression
  }

  // MARK: Results

  /// Whether an expression is the only one of a function or a getter, whose result it is.
  private func isResult(_ node: CodeBlockItemSyntax) -> Bool {
    guard let list = node.parent?.as(CodeBlockItemListSyntax.self), list.count == 1, let owner = list.parent else {
      return false
    }
    return owner.is(AccessorBlockSyntax.self)
      || owner.parent?.is(FunctionDeclSyntax.self) == true && owner.is(CodeBlockSyntax.self)
  }

  private func addResult(_ expression: ExprSyntax, of node: CodeBlockItemSyntax) {
    guard let type = resultType(of: Syntax(node)) else { return }
    // A literal is mutated as such.
    guard !expression.is(BooleanLiteralExprSyntax.self), !expression.is(NilLiteralExprSyntax.self) else { return }
    if type.trimmedDescription == "Bool" {
      add(.negation, expression, .opposite, after: "!(\(expression.trimmedDescription))")
    } else if type.is(OptionalTypeSyntax.self) {
      add(.result, expression, .choice, after: "nil")
    } else if type.is(ArrayTypeSyntax.self) {
      add(.result, expression, .choice, after: "[]")
    } else if type.is(DictionaryTypeSyntax.self) {
      add(.result, expression, .choice, after: "[:]")
    }
  }

  /// The type of what a statement returns, as far as it is written down.
  private func resultType(of node: Syntax) -> TypeSyntax? {
    var next = node.parent
    while let current = next {
      if current.is(ClosureExprSyntax.self) || current.is(InitializerDeclSyntax.self) { return nil }
      if let function = current.as(FunctionDeclSyntax.self) { return function.signature.returnClause?.type }
      if let accessor = current.as(AccessorDeclSyntax.self), accessor.accessorSpecifier.text != "get" { return nil }
      if let binding = current.as(PatternBindingSyntax.self) { return binding.typeAnnotation?.type }
      if let declaration = current.as(SubscriptDeclSyntax.self) { return declaration.returnClause.type }
      next = current.parent
    }
    return nil
  }
}

extension SyntaxProtocol {
  /// Whether a node is in a declaration, and in no closure of it.
  func isIn<Declaration: SyntaxProtocol>(_: Declaration.Type) -> Bool {
    var next = parent
    while let current = next {
      if current.is(Declaration.self) { return true }
      if current.is(ClosureExprSyntax.self) || current.is(FunctionDeclSyntax.self) { return false }
      next = current.parent
    }
    return false
  }
}
