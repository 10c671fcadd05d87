import ControlAPI
import Egress
import FanOut
import FootlightModel
import Foundation
import MixerProcess
import NIOCore
import Stage
import Synchronization
import Webhooks

/// Reports how the gateway and its machine are doing, for `/v1/system`.
final class SystemReporter: SystemReporting {
    private static let notes = [
        "Tokens, keys and passphrases are in no part of this file; addresses and names of rooms are."
    ]

    private let pipeline: Pipeline
    private let webhooks: WebhookDispatcher?
    private let health: Health
    private let certificate: ServerCertificate?
    /// The configuration of the start.
    private let initial: GatewayConfiguration
    /// The configuration that was read last, whose reloadable settings are in effect.
    private let latest: Mutex<GatewayConfiguration>
    private let monitor: SystemMonitor
    private let startedAt = Date().timeIntervalSince1970

    init(
        pipeline: Pipeline,
        webhooks: WebhookDispatcher?,
        health: Health,
        certificate: ServerCertificate?,
        configuration: GatewayConfiguration
    ) {
        self.pipeline = pipeline
        self.webhooks = webhooks
        self.health = health
        self.certificate = certificate
        initial = configuration
        latest = Mutex(configuration)
        let data = configuration.dataDirectory
        monitor = SystemMonitor(folders: [("data", data), ("recordings", data + "/recordings")]) {
            // HLS is counted for all rooms together; no feed has an empty name.
            let hls = ["": pipeline.feeds.load.sent[.hls] ?? 0]
            return SystemMonitor.Counters(
                mixers: pipeline.mixers.processes,
                sent: pipeline.programs.reduce(into: hls) { $0[$1.name] = $1.bytes },
                pushed: pipeline.pushedBytes
            )
        }
    }

    /// Takes over a configuration that was read again.
    func use(_ configuration: GatewayConfiguration) {
        latest.withLock { $0 = configuration }
    }

    /// Reads the counters of sent bytes; to be called every few seconds.
    func measureTransfers() {
        monitor.measureTransfers()
    }

    func system() async -> SystemResource {
        let figures = await monitor.figures()
        let configuration = latest.withLock { $0 }
        let readiness = health.readiness
        let certificate = certificateResource
        let viewers = pipeline.programs.reduce(pipeline.viewership.requesters) { $0 + $1.viewers }
        let degradations = degradations(of: figures.mixers)
        let findings = SystemFindings(
            figures: figures,
            viewers: viewers,
            link: configuration.bandwidth,
            reserve: UInt64(initial.recordingReserve) << 20,
            degradations: degradations,
            certificate: certificate,
            failingWebhooks: webhooks?.status.failing ?? 0
        )
        let unready = readiness.reasons.map { reason in
            let words = Health.Words.about(reason.name)
            return SystemFindingResource(
                subject: reason.name,
                level: .known(.problem),
                message: reason.problem,
                advice: words?.advice ?? "",
                messageCode: words.map { .known($0.message) },
                adviceCode: words?.adviceCode.rawValue,
                values: words.map { values(of: $0.message, reason.name, figures) }
            )
        }
        let warnings = initial.warnings.map {
            SystemFindingResource(
                subject: "settings",
                level: .known(.warning),
                message: $0.text,
                messageCode: .known($0.code),
                values: [:]
            )
        }
        let all = (unready + warnings + findings.all).enumerated().sorted {
            ($0.element.level.value?.order ?? 0, $0.offset) < ($1.element.level.value?.order ?? 0, $1.offset)
        }
        return SystemResource(
            version: Version.text,
            startedAt: Timestamp(startedAt),
            uptime: (Date().timeIntervalSince1970 - startedAt).rounded(),
            ready: readiness.ready,
            findings: all.map(\.element),
            processor: SystemProcessorResource(
                cores: figures.cores,
                machinePercent: figures.machine.map(Self.percent),
                gatewayPercent: figures.gateway.map(Self.percent)
            ),
            memory: SystemMemoryResource(
                used: figures.memory.map { Int($0.used) },
                total: figures.memory.map { Int($0.total) },
                gateway: figures.gatewayMemory
            ),
            disks: figures.disks.map {
                SystemDiskResource(holds: $0.holds, free: Int(clamping: $0.free), total: Int(clamping: $0.total))
            },
            descriptors: SystemDescriptorsResource(open: figures.descriptors, limit: figures.descriptorLimit),
            network: SystemNetworkResource(
                bytesPerSecond: figures.sent.map { ($0 + (figures.pushed ?? 0)).rounded() },
                outputBytesPerSecond: figures.pushed?.rounded(),
                viewers: viewers,
                bandwidthMbps: configuration.bandwidth,
                moreViewers: findings.estimate?.moreViewers
            ),
            mixers: figures.mixers.map { mixer in
                SystemMixerResource(
                    room: mixer.room,
                    pid: Int(mixer.pid),
                    cores: mixer.cores.map { ($0 * 100).rounded() / 100 },
                    memory: mixer.memory,
                    degradationLevel: degradations[mixer.room]?.level
                )
            },
            certificate: certificate
        )
    }

    func events(from level: SystemEventLevel, room: String?) -> [SystemEventResource] {
        RecentEvents.shared.events(from: level.rawValue, room: room)
    }

    func diagnostics() async -> DiagnosticsResource {
        DiagnosticsResource(
            madeAt: Timestamp(Date().timeIntervalSince1970),
            system: await system(),
            settings: settings,
            events: events(from: .notice, room: nil),
            notes: Self.notes
        )
    }

    /// The settings in effect, as `check-config` prints them.
    private var settings: [String] {
        let latest = latest.withLock { $0 }
        return Setting.all.map { "\($0.key): \($0.text($0.isReloadable ? latest : initial))" }
    }

    private var certificateResource: SystemCertificateResource? {
        certificate.map { certificate in
            let expiry = certificate.expiry.timeIntervalSince1970
            let days = ((expiry - Date().timeIntervalSince1970) / 86_400).rounded(.down)
            return SystemCertificateResource(
                names: certificate.names,
                expiresAt: Timestamp(expiry),
                daysLeft: Int(days)
            )
        }
    }

    private func degradations(of mixers: [SystemFigures.Mixer]) -> [String: ProgramDiagnosis] {
        mixers.reduce(into: [:]) { programs, mixer in
            guard let room = try? pipeline.stage.summary(of: mixer.room) else { return }
            programs[mixer.room] = try? pipeline.stage.diagnosis(room: room.sid, cores: System.coreCount).program
        }
    }

    /// Returns what stands in the sentence about a reason not to be ready.
    private func values(
        of code: SystemMessageCode,
        _ reason: String,
        _ figures: SystemFigures
    ) -> [String: AnyJSON] {
        switch code {
        case .memoryShort: ["percent": .number(((figures.memory?.usedFraction ?? 0) * 100).rounded())]
        case .mixersFail: ["rooms": .string(pipeline.mixers.failingRooms.joined(separator: ", "))]
        case .store: ["store": .string(String(reason.dropFirst(Health.Reason.store("").name.count)))]
        default: [:]
        }
    }

    /// A part as percent with one decimal.
    private static func percent(_ part: Double) -> Double { (part * 1000).rounded() / 10 }
}

extension Pipeline {
    /// What the feeds of programs and renditions send to RTMP and HTTP-FLV viewers, without those that mixers and hosts
    /// play.
    fileprivate var programs: [FeedActivity] {
        feeds.all.map(\.activity).filter { FeedAudience(of: $0.name).isCounted }
    }

    /// The bytes that were sent to outputs, by the names of room and output.
    fileprivate var pushedBytes: [String: UInt64] {
        stage.rooms(.inProgress).reduce(into: [:]) { bytes, room in
            let name = room.settings.name
            for output in livestreams.status(room: name).outputs { bytes["\(name) \(output.name)"] = output.bytesSent }
        }
    }
}

extension Health {
    /// What is said about a reason not to be ready.
    struct Words: Equatable {
        /// The code of the reason.
        var message: SystemMessageCode
        /// What to do about it.
        var advice: String
        /// The code of that.
        var adviceCode: SystemAdviceCode

        private init(_ message: SystemMessageCode, _ adviceCode: SystemAdviceCode, _ advice: String) {
            self.message = message
            self.advice = advice
            self.adviceCode = adviceCode
        }

        /// - Parameter reason: The name of the reason.
        /// - Returns: nil for an unknown reason.
        static func about(_ reason: String) -> Words? {
            switch reason {
            case Reason.draining.name: Words(.draining, .waitForStart, "Wait until the gateway has started again")
            case Reason.memory.name:
                Words(
                    .memoryShort,
                    .freeMemoryNow,
                    "End what else uses memory, or use a machine with more; connected viewers stay"
                )
            case Reason.eventLoops.name:
                Words(.eventLoops, .checkLoad, "Look at the load of the machine; restart the gateway if it stays so")
            case Reason.disk.name: Words(.diskFull, .deleteFiles, "Delete recordings or other files")
            case Reason.dataFolder.name:
                Words(.dataFolder, .restoreFolder, "Put the data folder back, and restart the gateway")
            case Reason.mixers.name:
                Words(
                    .mixersFail,
                    .removeLastHost,
                    "The log says why; look at what its hosts send, and remove the last one that came"
                )
            case Reason.connections.name:
                Words(
                    .connections,
                    .raiseConnections,
                    "Raise LimitNOFILE of the service, or fanout.viewers; new viewers are refused"
                )
            case let store where store.hasPrefix(Reason.store("").name):
                Words(
                    .store,
                    .checkStore,
                    "Look at the disk, its free space, and the owner of the data folder's files; programs go on meanwhile"
                )
            default: nil
            }
        }
    }
}
