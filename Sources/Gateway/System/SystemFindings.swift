import FootlightModel
import Foundation
import Stage

/// Puts figures of the machine in words, each with what to do.
///
/// Everything is given, so that the words depend on nothing else.
struct SystemFindings {
    /// The free bytes beyond the reserve of recordings below which a recording does not last long.
    private static let comfortableBytes: UInt64 = 2 << 30
    /// Days before its expiry at which a certificate should have been renewed.
    private static let renewalDays = 14

    let figures: SystemFigures
    let viewers: Int
    /// The setting `limits.bandwidth_mbps`.
    let link: Int?
    /// The setting `recordings.reserve` in bytes.
    let reserve: UInt64
    /// The programs by room.
    let degradations: [String: ProgramDiagnosis]
    let certificate: SystemCertificateResource?
    /// Webhooks whose deliveries fail.
    let failingWebhooks: Int

    /// What is sent to viewers and outputs; nil if unknown.
    var estimate: LinkEstimate? {
        figures.sent.map { sent in
            LinkEstimate(
                bytesPerSecond: sent,
                outputBytesPerSecond: figures.pushed ?? 0,
                viewers: viewers,
                link: link
            )
        }
    }

    /// All findings in the order of the subjects.
    var all: [SystemFindingResource] {
        [processor, memory] + disks + [descriptors, network] + mixers + certificates + webhooks
    }

    private func finding(
        _ subject: String,
        _ message: String,
        _ code: SystemMessageCode,
        _ values: [String: AnyJSON] = [:],
        problem: Bool = false,
        warning: Bool = false,
        _ advice: (sentence: String, code: SystemAdviceCode)? = nil
    ) -> SystemFindingResource {
        let level: SystemFindingLevel = problem ? .problem : warning ? .warning : .ok
        let advice = level == .ok ? nil : advice
        return SystemFindingResource(
            subject: subject,
            level: .known(level),
            message: message,
            advice: advice?.sentence ?? "",
            messageCode: .known(code),
            adviceCode: advice?.code.rawValue,
            values: values
        )
    }

    private var processor: SystemFindingResource {
        let cores = figures.cores == 1 ? "1 core" : "\(figures.cores) cores"
        var values: [String: AnyJSON] = ["count": .number(Double(figures.cores))]
        guard let use = figures.machine else {
            let message = "CPU: \(cores); the system does not tell how busy"
            return finding("processor", message, .processorUnknown, values)
        }
        let own = figures.gateway.map { ", \(Self.percent($0)) by the gateway itself" } ?? ""
        values["percent"] = .number((use * 100).rounded())
        if let gateway = figures.gateway { values["gateway_percent"] = .number((gateway * 100).rounded()) }
        return finding(
            "processor",
            "CPU \(Self.percent(use)) of \(cores)\(own)",
            figures.gateway == nil ? .processor : .processorOfGateway,
            values,
            problem: use >= 0.97,
            warning: use >= 0.85,
            ("Remove renditions or hosts, end what else runs on the machine, or use more cores", .reduceLoad)
        )
    }

    private var memory: SystemFindingResource {
        guard let memory = figures.memory else {
            return finding("memory", "Memory: the system does not tell how much is in use", .memoryUnknown)
        }
        return finding(
            "memory",
            "Memory \(Self.bytes(memory.used)) of \(Self.bytes(memory.total)) in use",
            .memory,
            ["used_bytes": .number(memory.used.rounded()), "total_bytes": .number(memory.total.rounded())],
            problem: memory.usedFraction >= 0.9,
            warning: memory.usedFraction >= 0.75,
            (
                "From 80 % on new viewers are refused: end what else uses memory, or use a machine with more",
                .freeMemory
            )
        )
    }

    private var disks: [SystemFindingResource] {
        let space = figures.disks.map { disk in
            let isOfRecordings = disk.holds == ["recordings"]
            let name = isOfRecordings ? "The disk of the recordings" : "The disk of the data folder"
            return finding(
                "disk",
                "\(name) has \(Self.bytes(Double(disk.free))) free of \(Self.bytes(Double(disk.total)))",
                isOfRecordings ? .diskOfRecordings : .diskOfData,
                ["free_bytes": .number(Double(disk.free)), "total_bytes": .number(Double(disk.total))],
                problem: disk.free < LivenessMonitor.minimumFreeBytes,
                warning: disk.free < reserve + Self.comfortableBytes,
                ("Delete recordings or other files, or recordings end soon", .deleteRecordings)
            )
        }
        guard figures.isDiskLate else { return space }
        let late = finding(
            "disk",
            "A disk of the gateway does not answer",
            .diskLate,
            problem: true,
            ("Look at the disk, or at the network drive that the folder is on", .checkDisk)
        )
        return space + [late]
    }

    private var descriptors: SystemFindingResource {
        let (open, limit) = (figures.descriptors ?? 0, figures.descriptorLimit)
        let use = limit > 0 ? Double(open) / Double(limit) : 0
        return finding(
            "descriptors",
            "\(open) of \(limit) open files and connections",
            .descriptors,
            ["open": .number(Double(open)), "limit": .number(Double(limit))],
            problem: use >= 0.95,
            warning: use >= 0.8,
            ("Raise LimitNOFILE of the service", .raiseDescriptors)
        )
    }

    private var network: SystemFindingResource {
        guard let estimate else {
            let message = viewers == 1 ? "1 viewer" : "\(viewers) viewers"
            return finding("network", message, .viewers, ["count": .number(Double(viewers))])
        }
        let use = estimate.use ?? 0
        return finding(
            "network",
            estimate.sentence,
            estimate.code,
            estimate.values,
            problem: use >= 0.95,
            warning: use >= 0.8,
            ("Offer lower renditions, or let a content network serve the viewers", .offloadViewers)
        )
    }

    private var mixers: [SystemFindingResource] {
        figures.mixers.map { mixer in
            let use = [mixer.cores.map { "\(Self.tenths($0)) cores" }, mixer.memory.map { Self.bytes(Double($0)) }]
            let figures = use.compactMap(\.self).joined(separator: ", ")
            let begin = "Mixer of \(mixer.room)" + (figures.isEmpty ? "" : ": \(figures)")
            var values: [String: AnyJSON] = ["room": .string(mixer.room)]
            let hasFigures = mixer.cores != nil && mixer.memory != nil
            if let cores = mixer.cores, let memory = mixer.memory {
                values["cores"] = .number((cores * 10).rounded() / 10)
                values["memory_bytes"] = .number(Double(memory))
            }
            guard let program = degradations[mixer.room], program.level > 0 else {
                return finding("mixer", "\(begin), full quality", hasFigures ? .mixerWithFigures : .mixer, values)
            }
            values["level"] = .number(Double(program.level))
            values.merge(program.values.mapValues { .number(Double($0)) }) { own, _ in own }
            return SystemFindingResource(
                subject: "mixer",
                level: .known(.warning),
                message: "\(begin). \(program.message)",
                advice: program.advice,
                messageCode: .known(hasFigures ? .mixerShortWithFigures : .mixerShort),
                adviceCode: program.adviceCode?.rawValue,
                values: values
            )
        }
    }

    private var certificates: [SystemFindingResource] {
        guard let certificate else { return [] }
        let names = certificate.names.joined(separator: ", ")
        let about = names.isEmpty ? "" : " for \(names)"
        let named: [String: AnyJSON] = ["names": .string(names.isEmpty ? "HTTPS" : names)]
        let days = certificate.daysLeft
        guard days >= 0 else {
            return [
                finding(
                    "certificate",
                    "The certificate\(about) has expired",
                    .certificateExpired,
                    named,
                    problem: true,
                    ("Renew it", .renewCertificate)
                )
            ]
        }
        return [
            finding(
                "certificate",
                "The certificate\(about) is good for \(days == 1 ? "1 day" : "\(days) days")",
                .certificate,
                named.merging(["count": .number(Double(days))]) { $1 },
                problem: days < 3,
                warning: days < Self.renewalDays,
                ("Renew it; the gateway loads the new files by itself", .renewCertificateFiles)
            )
        ]
    }

    private var webhooks: [SystemFindingResource] {
        guard failingWebhooks > 0 else { return [] }
        return [
            finding(
                "webhooks",
                failingWebhooks == 1 ? "A webhook fails" : "\(failingWebhooks) webhooks fail",
                .webhooks,
                ["count": .number(Double(failingWebhooks))],
                warning: true,
                ("The page Access of the dashboard says why", .seeWebhooks)
            )
        ]
    }

    // MARK: Words

    private static func percent(_ part: Double) -> String { "\(Int((part * 100).rounded())) %" }

    private static func tenths(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }

    /// Bytes with a unit of a thousand million, or of a million.
    static func bytes(_ number: Double) -> String {
        number >= 1e9 ? "\(tenths(number / 1e9)) GB" : "\(Int((number / 1e6).rounded())) MB"
    }
}

extension SystemFindingLevel {
    /// The most serious come first.
    var order: Int {
        switch self {
        case .problem: 0
        case .warning: 1
        case .ok: 2
        }
    }
}
