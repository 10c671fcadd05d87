import Foundation
import GatewayModel
import Testing

/// One value of every type of the model with nothing left out, to see which words it is written with.
enum ModelSamples {
    struct Sample: Sendable, CustomTestStringConvertible {
        let name: String
        let keys: Set<String>

        var testDescription: String { name }

        init(_ value: some Encodable) {
            name = "\(type(of: value))"
            let object = try? JSONSerialization.jsonObject(with: WireJSON.encode(value))
            keys = Set((object as? [String: Any] ?? [:]).keys)
        }
    }

    static let all: [Sample] = [
        Sample(assetList),
        Sample(assetResource),
        Sample(autoStartBody),
        Sample(backgroundResource),
        Sample(breakdownResource),
        Sample(callSettingsBody),
        Sample(callSettingsResource),
        Sample(connectOptionsBody),
        Sample(connectOptionsResource),
        Sample(countsResource),
        Sample(createInvitationBody),
        Sample(createRoomBody),
        Sample(createWebhookBody),
        Sample(egressResource),
        Sample(errorAnswer),
        Sample(errorResource),
        Sample(eventResource),
        Sample(heartbeatBody),
        Sample(hLSResource),
        Sample(ingestResource),
        Sample(invitationResource),
        Sample(inviteeResource),
        Sample(joinAnswer),
        Sample(joinBody),
        Sample(layoutBody),
        Sample(layoutPreviewBody),
        Sample(layoutResource),
        Sample(layoutSettingsResource),
        Sample(livestreamResource),
        Sample(logoResource),
        Sample(logReceiptResource),
        Sample(lowerThirdResource),
        Sample(mixerLoadResource),
        Sample(mixerReportBody),
        Sample(mixerReportEntry),
        Sample(modeAnswer),
        Sample(modeBody),
        Sample(outputBody),
        Sample(outputFaultResource),
        Sample(outputResource),
        Sample(overlaysBody),
        Sample(overlaysResource),
        Sample(pageResource),
        Sample(participantList),
        Sample(participantResource),
        Sample(participantSoundBody),
        Sample(participantSoundResource),
        Sample(pinBody),
        Sample(pinResource),
        Sample(playbackResource),
        Sample(previewHost),
        Sample(programResource),
        Sample(publishTrackBody),
        Sample(reconnectBody),
        Sample(recordedFileResource),
        Sample(recordingList),
        Sample(recordingResource),
        Sample(renditionResource),
        Sample(roomList),
        Sample(roomResource),
        Sample(roomSoundBody),
        Sample(roomSoundResource),
        Sample(rTMPIngestResource),
        Sample(slateResource),
        Sample(slatesBody),
        Sample(slatesResource),
        Sample(startHLSBody),
        Sample(startLivestreamBody),
        Sample(syncResource),
        Sample(thresholdResource),
        Sample(tickerResource),
        Sample(tileResource),
        Sample(trackResource),
        Sample(updateParticipantBody),
        Sample(updateRoomBody),
        Sample(updateTrackBody),
        Sample(updateWebhookBody),
        Sample(seriesPointResource),
        Sample(uniquesResource),
        Sample(viewerSessionList),
        Sample(viewerSessionResource),
        Sample(viewershipSeries),
        Sample(viewershipSliceResource),
        Sample(viewershipSummary),
        Sample(viewershipResource),
        Sample(viewershipTotalsResource),
        Sample(warningResource),
        Sample(webhookAttemptResource),
        Sample(webhookDeliveryList),
        Sample(webhookDeliveryResource),
        Sample(webhookList),
        Sample(webhookResource),
    ]
}
