import HTTPTypes
import Hummingbird
import NIOCore

/// The pages themselves, and the files they are made of.
extension PageSite {
    func addFiles(to router: Router<PageContext>) {
        router.get("dashboard") { request, _ in answer("dashboard.html", request) }
        router.get("watch/:room") { request, _ in answer("watch.html", request) }
        router.get("site/**") { request, context in
            answer(context.parameters.getCatchAll().joined(separator: "/"), request)
        }
        for path in ["dashboard", "watch/:room", "site/**"] as [RouterPath] {
            router.head(path) { request, context in
                let name =
                    switch request.uri.path.split(separator: "/").first {
                    case "dashboard": "dashboard.html"
                    case "watch": "watch.html"
                    default: context.parameters.getCatchAll().joined(separator: "/")
                    }
                return answer(name, request)
            }
        }
    }

    private func answer(_ name: String, _ request: Request) -> Response {
        guard let file = files[name] else { return PageReply.text(.notFound) }
        // Asked about each time and sent only when it has changed, so that an update of the gateway is one of the pages.
        var headers: HTTPFields = [.eTag: file.tag, .cacheControl: "no-cache"]
        if request.headers[.ifNoneMatch] == file.tag { return Response(status: .notModified, headers: headers) }
        headers[.contentType] = file.contentType
        headers[.contentLength] = String(file.bytes.readableBytes)
        return Response(status: .ok, headers: headers, body: ResponseBody(byteBuffer: file.bytes))
    }
}
