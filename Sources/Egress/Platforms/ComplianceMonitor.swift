import Stage

/// Checks an output's stream against the rules of its platform, with hysteresis; without I/O.
struct ComplianceMonitor: Sendable {
    /// Consecutive measurements that must agree before an issue is reported or cleared.
    static let confirmations = 2

    /// The result of a measurement.
    enum Change: Sendable, Equatable {
        /// New issues.
        case fellShort([ComplianceIssue])
        /// The last issue is gone.
        case isGood
    }

    private let rules: PlatformRules
    private let isSecure: Bool
    /// The configured stream.
    private let plan: StreamProperties
    /// The share of the configured frame rate that may be missing without an issue.
    private static let lack = 0.1
    /// The current issues.
    private var amiss: [ComplianceIssue.Kind: ComplianceIssue] = [:]
    /// Consecutive measurements that contradict `amiss`.
    private var doubts: [ComplianceIssue.Kind: Int] = [:]

    /// - Parameter figures: The configured stream; nil when unknown.
    init(rules: PlatformRules, isSecure: Bool, figures: StreamProperties?) {
        self.rules = rules
        self.isSecure = isSecure
        plan = figures ?? StreamProperties()
        for shortfall in rules.issues(of: plan, isSecure: isSecure) {
            amiss[shortfall.kind] = shortfall
        }
    }

    /// Makes a monitor for the platform of a push address.
    init(address: PushAddress, figures: StreamProperties?) {
        let rules = PlatformRules.rules(for: Platform(host: address.host))
        self.init(rules: rules, isSecure: address.scheme == .rtmps, figures: figures)
    }

    /// The source and date of the platform's requirements.
    var citation: String { rules.citation }

    /// The current issues.
    var issues: [ComplianceIssue] { ComplianceIssue.Kind.allCases.compactMap { amiss[$0] } }

    /// Applies one measurement of the stream.
    mutating func measured(_ figures: StreamProperties) -> Change? {
        let wasGood = amiss.isEmpty
        var fell: [ComplianceIssue] = []
        let found = Dictionary(issues(of: figures).map { ($0.kind, $0) }, uniquingKeysWith: { $1 })
        for kind in ComplianceIssue.Kind.allCases {
            guard (found[kind] == nil) != (amiss[kind] == nil) else {
                doubts[kind] = nil
                amiss[kind] = found[kind]
                continue
            }
            let count = (doubts[kind] ?? 0) + 1
            doubts[kind] = count < Self.confirmations ? count : nil
            guard count >= Self.confirmations else { continue }
            amiss[kind] = found[kind]
            if let shortfall = found[kind] { fell.append(shortfall) }
        }
        if !fell.isEmpty { return .fellShort(fell) }
        return amiss.isEmpty && !wasGood ? .isGood : nil
    }

    /// Returns the violated rules, and a frame rate below the configured one.
    private func issues(of measured: StreamProperties) -> [ComplianceIssue] {
        var figures = measured
        figures.duration = plan.duration
        var found = rules.issues(of: figures, isSecure: isSecure)
        if let rate = measured.frameRate, let planned = plan.frameRate, rate < planned * (1 - Self.lack) {
            let seen = (rate * 10).rounded() / 10
            found.append(
                ComplianceIssue(
                    .frameRate,
                    "the video has \(seen) fps in place of \(Int(planned.rounded()))"
                )
            )
        }
        return found
    }
}

/// Checks an output's stream against the platforms of both of its addresses; without I/O.
///
/// The addresses may belong to different platforms, or only one may use TLS. Issues at the address in use are reported
/// when they occur; issues at the other one before the stream begins, and again when that address comes into use.
struct OutputCompliance: Sendable {
    private var main: ComplianceMonitor
    /// nil without a backup address.
    private var spare: ComplianceMonitor?
    private var usesBackup = false

    init(main: ComplianceMonitor, spare: ComplianceMonitor? = nil) {
        self.main = main
        self.spare = spare
    }

    /// The monitor of the address in use.
    var inUse: ComplianceMonitor { usesBackup ? spare ?? main : main }

    /// The monitor of the other address; nil without a backup address.
    var other: ComplianceMonitor? { usesBackup ? main : spare }

    /// Whether the other address is the backup address.
    var isOtherSpare: Bool { !usesBackup }

    /// The issues at the other address that the address in use does not have.
    var issuesAtOtherAddress: [ComplianceIssue] {
        let known = inUse.issues
        return other?.issues.filter { !known.contains($0) } ?? []
    }

    /// Updates the address in use; returns the change of issues that this causes.
    mutating func moved(toSpare usesBackup: Bool) -> ComplianceMonitor.Change? {
        guard spare != nil, usesBackup != self.usesBackup else { return nil }
        let before = inUse.issues
        self.usesBackup = usesBackup
        let after = inUse.issues
        guard after != before else { return nil }
        return after.isEmpty ? .isGood : .fellShort(after)
    }

    /// Applies one measurement of the stream.
    mutating func measured(_ figures: StreamProperties) -> ComplianceMonitor.Change? {
        // Both addresses get the same stream, so the issues of the other one are known when it comes into use.
        let ofMain = main.measured(figures)
        let ofSpare = spare?.measured(figures)
        return usesBackup ? ofSpare : ofMain
    }
}
