import FootlightModel
import FootlightTesting

/// Samples of the state of the gateway.
extension ModelSamples {
    static let systemFindingResource = SystemFindingResource(
        subject: "x",
        level: "ok",
        message: "x",
        advice: "x",
        messageCode: "processor",
        adviceCode: "reduce_load",
        values: ["percent": .number(1)]
    )
    static let systemProcessorResource = SystemProcessorResource(cores: 1, machinePercent: 1, gatewayPercent: 1)
    static let systemMemoryResource = SystemMemoryResource(used: 1, total: 1, gateway: 1)
    static let systemDiskResource = SystemDiskResource(holds: ["data"], free: 1, total: 1)
    static let systemDescriptorsResource = SystemDescriptorsResource(open: 1, limit: 1)
    static let systemNetworkResource = SystemNetworkResource(
        bytesPerSecond: 1,
        outputBytesPerSecond: 1,
        viewers: 1,
        bandwidthMbps: 1,
        moreViewers: 1
    )
    static let systemMixerResource = SystemMixerResource(
        room: "x",
        pid: 1,
        cores: 1,
        memory: 1,
        degradationLevel: 0
    )
    static let systemCertificateResource = SystemCertificateResource(names: ["x"], expiresAt: Timestamp(0), daysLeft: 1)
    static let systemResource = SystemResource(
        version: "x",
        startedAt: Timestamp(0),
        uptime: 1,
        ready: true,
        findings: [systemFindingResource],
        processor: systemProcessorResource,
        memory: systemMemoryResource,
        disks: [systemDiskResource],
        descriptors: systemDescriptorsResource,
        network: systemNetworkResource,
        mixers: [systemMixerResource],
        certificate: systemCertificateResource
    )
    static let systemEventResource = SystemEventResource(
        at: Timestamp(0),
        level: "notice",
        logger: "x",
        message: "x",
        metadata: ["room": "x"]
    )
    static let diagnosticsResource = DiagnosticsResource(
        madeAt: Timestamp(0),
        system: systemResource,
        settings: ["x"],
        events: [systemEventResource],
        notes: ["x"]
    )

    static let nodeResource = NodeResource(
        name: "x",
        state: "up",
        address: "x",
        version: "x",
        rooms: 1,
        leaseSeconds: 1,
        isSelf: true
    )

    static let system: [Sample] = [
        Sample(nodeResource), Sample(NodeList(nodes: [nodeResource])),
        Sample(systemFindingResource), Sample(systemProcessorResource), Sample(systemMemoryResource),
        Sample(systemDiskResource), Sample(systemDescriptorsResource), Sample(systemNetworkResource),
        Sample(systemMixerResource), Sample(systemCertificateResource), Sample(systemResource),
        Sample(systemEventResource), Sample(SystemEventList(events: [systemEventResource])),
        Sample(diagnosticsResource),
    ]
}
