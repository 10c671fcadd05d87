import Foundation

/// Checks what a machine, a configuration and a data folder lack for a gateway: `footlight doctor`.
///
/// Changes nothing, and works beside a running gateway.
public struct Doctor: Sendable {
    /// The result of one check.
    public struct Finding: Sendable, Equatable, CustomStringConvertible {
        /// How serious a finding is.
        public enum Level: String, Sendable {
            /// Nothing is missing.
            case ok
            /// The gateway runs, with less than it could have.
            case warning
            /// The gateway does not start, or a show fails.
            case problem
        }

        /// How serious it is.
        public var level: Level
        /// What was checked, in a word or two.
        public var subject: String
        /// What was found, in one sentence.
        public var text: String
        /// What to do; nil if nothing.
        public var advice: String?

        static func ok(_ subject: String, _ text: String) -> Finding {
            Finding(level: .ok, subject: subject, text: text)
        }

        static func warning(_ subject: String, _ text: String, _ advice: String) -> Finding {
            Finding(level: .warning, subject: subject, text: text, advice: advice)
        }

        static func problem(_ subject: String, _ text: String, _ advice: String) -> Finding {
            Finding(level: .problem, subject: subject, text: text, advice: advice)
        }

        /// One line, and a second one with what to do.
        public var description: String {
            let first = level.rawValue.padded(to: 9) + subject.padded(to: 14) + text
            return advice.map { "\(first)\n" + "".padded(to: 23) + "→ \($0)" } ?? first
        }
    }

    let configuration: GatewayConfiguration
    /// The name by which clients reach the gateway; nil leaves the certificate's names unchecked.
    let name: String?
    /// RTMP or RTMPS addresses of outputs to reach.
    let outputs: [String]

    /// Prepares the checks.
    ///
    /// - Parameters:
    ///   - name: The name by which clients reach the gateway, which the certificate must have.
    ///   - outputs: Addresses of RTMP servers, such as `rtmps://live.example/app`, that must be reachable.
    public init(_ configuration: GatewayConfiguration, name: String? = nil, outputs: [String] = []) {
        self.configuration = configuration
        self.name = name
        self.outputs = outputs
    }

    /// Makes all checks, one after the other; takes seconds if an output does not answer.
    public func run() async -> [Finding] {
        var findings = configurationFindings
        findings.append(contentsOf: portFindings)
        findings.append(contentsOf: await certificateFindings())
        findings.append(contentsOf: folderFindings)
        findings.append(contentsOf: [descriptors, clock, processor, codecs, fonts, confinement])
        findings.append(contentsOf: await showFindings())
        for output in outputs { findings.append(await reachability(of: output)) }
        return findings
    }

    private var configurationFindings: [Finding] {
        var findings = configuration.unknownKeys.map {
            Finding.problem("settings", "\($0) is not a setting.", "See footlight check-config --reference.")
        }
        findings += configuration.warnings.map { warning in
            Finding.warning("settings", warning.text, "The article Encryption has the steps.")
        }
        if findings.isEmpty { findings.append(.ok("settings", "The settings are valid.")) }
        return findings
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String { self + String(repeating: " ", count: max(width - count, 1)) }
}
