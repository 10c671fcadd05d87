/// The rules of the lease and of the store that tests break one by one, to show that the model test notices each.
///
/// Every switch is off in the product.
package struct ClusterRules: Sendable {
    /// The lease holds from the time of the answer instead of the time of sending.
    package var holdsFromAnswer = false
    /// The lease is extended by reading the own row.
    package var holdsByRead = false
    /// The lease does not end by time.
    package var ignoresExpiry = false
    /// A node is fenced when it is first read.
    package var fencesOnFirstSight = false
    /// A node is fenced although own requests failed meanwhile.
    package var ignoresSteadiness = false
    /// A node is fenced at the last instant of its lease, not after it.
    package var includesBoundary = false
    /// The writer does not name the count that was acknowledged last, so that lost writes go unnoticed.
    package var ignoresLostWrites = false
    /// Fences do not begin at the time of the clock.
    package var ignoresFloor = false
    /// The store grants a claim by what the claimer read, without a check of the owner.
    package var claimsByRead = false
    /// The store accepts writes of a fenced process.
    package var acceptsFenced = false
    /// The store does not keep the fence of a claim.
    package var forgetsFence = false
    /// The store fences a node although its row has changed since it was read.
    package var fencesOverChange = false
    /// A former primary acknowledges writes that no other server has.
    package var acknowledgesAlone = false

    /// Makes the rules as they are.
    package init() {}
}
