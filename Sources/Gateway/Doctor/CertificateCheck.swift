import Foundation
import SwiftASN1
import X509

/// Verifies the certificate of HTTPS and RTMPS as a client would: chain, name, key and dates.
struct CertificateCheck {
    /// Days before the expiry at which an ACME client should have renewed the certificate.
    private static let renewalDays = 14.0

    let paths: CertificatePaths
    /// The name by which clients reach the gateway; nil accepts every name.
    let name: String?
    /// The trusted authorities.
    var roots = CertificateStore.systemTrustRoots
    var now = Date()

    /// Makes all checks.
    func findings() async -> [Doctor.Finding] {
        let subject = "certificate"
        let chain: [Certificate]
        do {
            let files = try CertificateFiles(paths)
            // The gateway itself does this at its start.
            _ = try files.contexts(of: paths)
            let text = String(decoding: files.chain, as: UTF8.self)
            chain = try PEMDocument.parseMultiple(pemString: text).map { try Certificate(pemDocument: $0) }
        } catch let error as ConfigurationError {
            let advice = "Name the files of one certificate and its key."
            return [.problem(subject, "\(error.key) \(error.problem).", advice)]
        } catch {
            return [.problem(subject, "\(paths.chain) cannot be parsed.", "Ask the authority for a PEM file.")]
        }
        guard let leaf = chain.first else {
            return [.problem(subject, "\(paths.chain) has no certificate.", "Ask the authority for a PEM file.")]
        }
        var findings = [dates(of: leaf, subject)]
        // One that is not valid at present fails the other checks for that reason.
        guard (leaf.notValidBefore...leaf.notValidAfter).contains(Date()) else { return findings }
        if let name {
            let names = Self.names(of: leaf)
            findings.append(
                names.contains { Self.covers($0, name.lowercased()) }
                    ? .ok(subject, "It is for \(name).")
                    : .problem(
                        subject,
                        "It is not for \(name), but for \(names.joined(separator: ", ")).",
                        "Get a certificate with that name."
                    )
            )
        }
        findings.append(
            await isTrusted(leaf, Array(chain.dropFirst()))
                ? .ok(subject, "This machine trusts its chain.")
                : .warning(
                    subject,
                    "This machine does not trust its chain.",
                    "tls.certificate needs the intermediate certificates (fullchain.pem); "
                        + "viewers of a private authority must have that installed."
                )
        )
        return findings
    }

    private func dates(of leaf: Certificate, _ subject: String) -> Doctor.Finding {
        let days = leaf.notValidAfter.timeIntervalSince(now) / 86_400
        guard leaf.notValidBefore <= now else {
            return .problem(
                subject,
                "It is valid from \(leaf.notValidBefore.formatted(.iso8601)) only.",
                "Set the clock, or wait."
            )
        }
        let end = leaf.notValidAfter.formatted(.iso8601)
        if days <= 0 { return .problem(subject, "It expired at \(end).", "Renew it.") }
        if days < Self.renewalDays { return .warning(subject, "It expires at \(end).", "Renew it.") }
        return .ok(subject, "It is valid until \(end).")
    }

    /// Returns the host names of the first certificate of a chain in PEM form; none if it cannot be parsed.
    static func names(ofChain chain: Data) -> [String] {
        let documents = try? PEMDocument.parseMultiple(pemString: String(decoding: chain, as: UTF8.self))
        guard let leaf = documents?.first.flatMap({ try? Certificate(pemDocument: $0) }) else { return [] }
        return names(of: leaf)
    }

    private static func names(of leaf: Certificate) -> [String] {
        guard let names = try? leaf.extensions.subjectAlternativeNames else { return [] }
        return names.compactMap { name in
            if case .dnsName(let text) = name { text.lowercased() } else { nil }
        }
    }

    /// Whether a name of a certificate, whose first label may be a wildcard, is that of a host (RFC 6125 section 6.4.3).
    private static func covers(_ pattern: String, _ host: String) -> Bool {
        guard pattern.hasPrefix("*.") else { return pattern == host }
        return host.drop { $0 != "." } == pattern.dropFirst() && !host.hasPrefix(".")
    }

    private func isTrusted(_ leaf: Certificate, _ intermediates: [Certificate]) async -> Bool {
        var verifier = Verifier(rootCertificates: roots) { RFC5280Policy() }
        let result = await verifier.validate(leaf: leaf, intermediates: CertificateStore(intermediates))
        guard case .validCertificate = result else { return false }
        return true
    }
}
