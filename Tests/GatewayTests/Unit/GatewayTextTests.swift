import FootlightModel
import NIOCore
import TestSupport
import Testing

@testable import Gateway
@testable import Pages
@testable import Stage

@Suite("Texts of the pages for what the gateway says")
struct GatewayTextTests {
    /// The texts of the dashboard by language.
    private static func catalogues() throws -> [String: TextCatalogue] {
        let files = StaticFiles(libraries: [:])
        return try ["en", "de"].reduce(into: [:]) { catalogues, language in
            let parts = try ["dashboard", "studio", "administration"].map { part in
                let file = try #require(files["texts/\(part)-\(language).js"])
                return String(buffer: file.bytes).split(separator: "export const \(language) = {").last ?? ""
            }
            let all = parts.map { $0.prefix(upTo: $0.lastIndex(of: "}") ?? $0.startIndex) }.joined(separator: "\n")
            catalogues[language] = try TextCatalogue(of: "const \(language) = {\n\(all)\n};", language: language)
        }
    }

    private func expectTexts(_ group: String, _ codes: [String]) throws {
        for (language, catalogue) in try Self.catalogues() {
            for code in codes { #expect(catalogue.keys.contains("\(group).\(code)"), "\(language): \(group).\(code)") }
        }
    }

    @Test("every code has a text in each language")
    func codes() throws {
        try expectTexts("findings", SystemMessageCode.allCases.map(\.rawValue))
        let advice = SystemAdviceCode.allCases.map(\.rawValue) + ProgramDiagnosis.Advice.allCases.map(\.rawValue)
        #expect(Set(advice).count == advice.count)
        try expectTexts("advice", advice)
        try expectTexts("load", (0...6).map { "\($0)" })
        let causes = HostDiagnosis.Cause.allCases
        try expectTexts("diagnosis.causes", causes.map(\.rawValue) + ["switched_off_by", "ducked_by"])
        try expectTexts("diagnosis.advice", causes.filter { $0 != .none }.map(\.rawValue))
        try expectTexts("outputs.faults", OutputFault.Code.allCases.map(\.rawValue))
        // What a platform asks for stays in the words of its rules.
        let reasons = LivestreamWarning.Reason.allCases.filter { $0 != .streamUnsuitable }
        try expectTexts("outputs.warnings", reasons.map(\.rawValue))
    }

    /// Findings with each message that figures can lead to.
    private static var findings: [SystemFindingResource] {
        let rate = 1.16e6
        let mixer = SystemFigures.Mixer(room: "show", pid: 7, cores: 0.72, memory: 180_000_000)
        let new = SystemFigures.Mixer(room: "new", pid: 8, cores: nil, memory: nil)
        let slow = ProgramDiagnosis(
            level: 2,
            message: "m",
            advice: "a",
            adviceCode: .fewerRenditions,
            values: ["percent": 80, "height": 1080, "count": 3],
            processorPercent: 80
        )
        func certificate(_ days: Int) -> SystemCertificateResource {
            SystemCertificateResource(names: ["live.example"], expiresAt: Timestamp(0), daysLeft: days)
        }
        let all = SystemFindingsTests()
        return [
            all.findings(viewers: 1, certificate: certificate(1), webhooks: 1) {
                ($0.machine, $0.memory, $0.sent) = (nil, nil, nil)
                $0.mixers = [mixer, new]
            },
            all.findings(viewers: 3, certificate: certificate(-1), degradations: ["show": slow, "new": slow]) {
                ($0.machine, $0.gateway, $0.sent, $0.isDiskLate) = (0.99, nil, rate, true)
                $0.mixers = [mixer, new]
                $0.memory = MemoryUsage(total: 8e9, used: 7.9e9)
                $0.descriptors = 1020
                $0.disks = [DiskSpace(holds: ["recordings"], free: 0, total: 1000)]
            },
            all.findings(link: 10, viewers: 3) { $0.sent = rate },
            all.findings(link: 10, viewers: 3) { ($0.sent, $0.pushed) = (rate, rate) },
            all.findings(viewers: 3) { ($0.sent, $0.pushed) = (rate, rate) },
            all.findings(viewers: 3) { ($0.sent, $0.pushed) = (0, rate) },
            all.findings(viewers: 3) { $0.sent = 0 },
            all.findings { ($0.sent, $0.pushed) = (0, rate) },
            all.findings(),
        ].flatMap(\.self)
    }

    @Test("each finding has the values of its texts")
    func values() throws {
        let catalogues = try Self.catalogues()
        let findings = Self.findings
        for finding in findings {
            var values = Set(finding.values.map { Array($0.keys) } ?? [])
            if values.contains("level") { values.insert("load") }
            let code = try #require(finding.messageCode?.value)
            #expect((finding.adviceCode == nil) == finding.advice.isEmpty, "\(code)")
            for (language, catalogue) in catalogues {
                let needed = catalogue.values(of: "findings.\(code.rawValue)")
                    .union(finding.adviceCode.map { catalogue.values(of: "advice.\($0)") } ?? [])
                #expect(needed.isSubset(of: values), "\(language): \(code)")
            }
        }
        // The rest is of reasons not to be ready, and of the configuration.
        let others: Set<SystemMessageCode> = [
            .withoutTLS, .draining, .memoryShort, .eventLoops, .diskFull, .dataFolder, .mixersFail, .connections,
            .store,
        ]
        let found = Set(findings.compactMap(\.messageCode?.value))
        #expect(found == Set(SystemMessageCode.allCases).subtracting(others))
    }

    @Test("the load of a program has the values of its advice")
    func load() throws {
        let needed = try Self.catalogues().mapValues { catalogue in
            ProgramDiagnosis.Advice.allCases.map { catalogue.values(of: "advice.\($0.rawValue)") }
                .reduce(into: Set<String>()) { $0.formUnion($1) }
        }
        #expect(needed.values.allSatisfy { $0 == ["percent", "height", "count"] })
    }
}
