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
            SystemFindingResource(
                subject: reason.name,
                level: .known(.problem),
                message: reason.problem,
                advice: Health.advice(on: reason.name)
            )
        }
        let warnings = initial.warnings.map {
            SystemFindingResource(subject: "settings", level: .known(.warning), message: $0)
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

    private func degradations(of mixers: [SystemFigures.Mixer]) -> [String: SystemFindings.Degradation] {
        let pairs = mixers.compactMap { mixer -> (String, SystemFindings.Degradation)? in
            guard let room = try? pipeline.stage.summary(of: mixer.room),
                let program = try? pipeline.stage.diagnosis(room: room.sid, cores: System.coreCount).program
            else { return nil }
            return (
                mixer.room,
                .init(level: program.level, message: program.message, advice: program.advice)
            )
        }
        return Dictionary(pairs, uniquingKeysWith: { $1 })
    }

    /// A part as percent with one decimal.
    private static func percent(_ part: Double) -> Double { (part * 1000).rounded() / 10 }
}

extension Pipeline {
    /// What the feeds of programs and renditions send to RTMP and HTTP-FLV viewers, without those that mixers and hosts
    /// play.
    fileprivate var programs: [FeedActivity] {
        feeds.all.map(\.activity).filter { FeedName.isProgram($0.name) }
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
    /// What to do about a reason not to be ready, by its name.
    static func advice(on reason: String) -> String {
        switch reason {
        case Reason.draining.name: "Wait until the gateway has started again"
        case Reason.memory.name: "End what else uses memory, or use a machine with more; connected viewers stay"
        case Reason.eventLoops.name: "Look at the load of the machine; restart the gateway if it stays so"
        case Reason.disk.name: "Delete recordings or other files"
        case Reason.dataFolder.name: "Put the data folder back, and restart the gateway"
        case Reason.mixers.name: "The log says why; look at what its hosts send, and remove the last one that came"
        case Reason.connections.name: "Raise LimitNOFILE of the service, or fanout.viewers; new viewers are refused"
        case let store where store.hasPrefix(Reason.store("").name):
            "Look at the disk, its free space, and the owner of the data folder's files; programs go on meanwhile"
        default: ""
        }
    }
}
