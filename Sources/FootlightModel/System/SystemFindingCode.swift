/// The sentences that the findings of `GET /v1/system` consist of.
public enum SystemMessageCode: String, Sendable, Hashable, CaseIterable {
    /// `percent` of `count` cores is in use.
    case processor
    /// The same, `gateway_percent` of it by the gateway itself.
    case processorOfGateway = "processor_of_gateway"
    /// The machine has `count` cores; how busy they are is unknown.
    case processorUnknown = "processor_unknown"
    /// `used_bytes` of `total_bytes` of memory are in use.
    case memory
    /// The use of the memory is unknown.
    case memoryUnknown = "memory_unknown"
    /// The disk of the data folder has `free_bytes` of `total_bytes`.
    case diskOfData = "disk_of_data"
    /// The disk of the recordings has `free_bytes` of `total_bytes`.
    case diskOfRecordings = "disk_of_recordings"
    /// A disk does not answer.
    case diskLate = "disk_late"
    /// `open` of `limit` files and connections are open.
    case descriptors
    /// `count` viewers; what is sent to them is unknown.
    case viewers
    /// Nobody watches.
    case networkIdle = "network_idle"
    /// Nobody watches; `output_mbps` go to outputs.
    case networkIdleWithOutputs = "network_idle_with_outputs"
    /// `rate_mbps` go to `count` viewers.
    case network
    /// The same, and `output_mbps` go to outputs.
    case networkWithOutputs = "network_with_outputs"
    /// `rate_mbps` go to `count` viewers, `each_mbps` each; the link of `link_mbps` carries `more` more.
    case networkOfLink = "network_of_link"
    /// The same, and `output_mbps` go to outputs.
    case networkOfLinkWithOutputs = "network_of_link_with_outputs"
    /// `rate_mbps` go to `count` viewers, `each_mbps` each; a link of `link_mbps` would carry `all`.
    case networkEstimate = "network_estimate"
    /// The same, and `output_mbps` go to outputs.
    case networkEstimateWithOutputs = "network_estimate_with_outputs"
    /// The mixer of `room` works at full quality.
    case mixer
    /// The same, with its `cores` and `memory_bytes`.
    case mixerWithFigures = "mixer_with_figures"
    /// The mixer of `room` leaves something out: what its `level` of degradation means.
    case mixerShort = "mixer_short"
    /// The same, with its `cores` and `memory_bytes`.
    case mixerShortWithFigures = "mixer_short_with_figures"
    /// The certificate for `names` is good for `count` days.
    case certificate
    /// The certificate for `names` has expired.
    case certificateExpired = "certificate_expired"
    /// `count` webhooks fail.
    case webhooks
    /// The gateway listens beyond this machine without TLS.
    case withoutTLS = "without_tls"
    /// The gateway is being stopped.
    case draining
    /// Memory is short: `percent` of it is in use.
    case memoryShort = "memory_short"
    /// An event loop does not answer.
    case eventLoops = "event_loops"
    /// The disk of the data folder is almost full.
    case diskFull = "disk_full"
    /// The data folder was deleted or replaced.
    case dataFolder = "data_folder"
    /// The mixers of `rooms` fail repeatedly.
    case mixersFail = "mixers_fail"
    /// The limit of connections is reached.
    case connections
    /// The database `store` cannot be reached, read or written.
    case store
}

/// What an operator can do about a finding of `GET /v1/system`.
public enum SystemAdviceCode: String, Sendable, Hashable, CaseIterable {
    /// Remove renditions or hosts, end what else runs on the machine, or use more cores.
    case reduceLoad = "reduce_load"
    /// End what else uses memory, before new viewers are refused.
    case freeMemory = "free_memory"
    /// Delete recordings or other files, before recordings end.
    case deleteRecordings = "delete_recordings"
    /// Look at the disk or network drive.
    case checkDisk = "check_disk"
    /// Raise `LimitNOFILE` of the service.
    case raiseDescriptors = "raise_descriptors"
    /// Offer lower renditions, or let a content network serve the viewers.
    case offloadViewers = "offload_viewers"
    /// Renew the certificate.
    case renewCertificate = "renew_certificate"
    /// Renew the certificate; the gateway loads the files by itself.
    case renewCertificateFiles = "renew_certificate_files"
    /// The page Access of the dashboard says why.
    case seeWebhooks = "see_webhooks"
    /// Wait until the gateway has started again.
    case waitForStart = "wait_for_start"
    /// End what else uses memory; connected viewers stay.
    case freeMemoryNow = "free_memory_now"
    /// Look at the load of the machine; restart the gateway if it stays so.
    case checkLoad = "check_load"
    /// Delete recordings or other files.
    case deleteFiles = "delete_files"
    /// Put the data folder back, and restart the gateway.
    case restoreFolder = "restore_folder"
    /// Look at what the hosts send, and remove the last one that came.
    case removeLastHost = "remove_last_host"
    /// Raise `LimitNOFILE` of the service, or `fanout.viewers`.
    case raiseConnections = "raise_connections"
    /// Look at the disk, its free space, and the owner of the data folder's files.
    case checkStore = "check_store"
}
