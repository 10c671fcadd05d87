import FootlightTesting
import TestSupport
import Testing

/// A browser in which somebody is logged in to the dashboard, and what tests do there.
struct Dashboard {
    let browser: HeadlessBrowser
    let site: String
    private let gateway: GatewayProcess

    /// Starts a browser; nobody is logged in yet.
    init(of gateway: GatewayProcess) async throws {
        self.gateway = gateway
        browser = try await HeadlessBrowser()
        site = "http://127.0.0.1:\(gateway.endpoints.httpPort)"
    }

    /// Opens the site, which leads to the dashboard, and logs in.
    ///
    /// The page has two functions from then on: `named` finds what can be clicked by its text, `enter` fills a field, which
    /// may be given by its name.
    ///
    /// - Parameter token: The operator's if nil.
    func logIn(_ token: String? = nil) async throws {
        try await browser.open("\(site)/")
        #expect(try await browser.waits(for: "location.pathname === '/dashboard'", within: .seconds(5)))
        #expect(try await browser.waits(for: "document.querySelector('#token')", within: .seconds(5)))
        _ = try await browser.evaluate(
            """
            globalThis.confirm = () => true;
            globalThis.named = (text) => [...document.querySelectorAll('a, button, summary, [role=tab]')]
                .find((one) => one.textContent.trim() === text && !one.hidden && one.offsetParent !== null);
            globalThis.enter = (where, value) => {
                const field = typeof where === 'string' ? document.querySelector(`[name=${where}]`) : where;
                field.value = value;
                field.dispatchEvent(new Event('input', { bubbles: true }));
                field.dispatchEvent(new Event('change', { bubbles: true }));
            };
            document.querySelector('#token').value = '\(try token ?? gateway.operatorToken)';
            document.querySelector('.login button').click();
            """
        )
    }

    /// Waits until an expression is true.
    ///
    /// - Throws: What the page shows, if it does not become true.
    func waits(_ expression: String, _ seconds: Int = 20) async throws {
        let isTrue = try await browser.waits(for: expression, within: .seconds(seconds))
        let said = try await browser.evaluate(
            "document.querySelector('main').innerText.slice(0, 900) + document.querySelector('#toasts').innerText"
        )
        try #require(isTrue, "\(expression): \(said.text) \(browser.consoleErrors) \(gateway.log.suffix(2000))")
    }

    /// Clicks a link, button or tab by its text, once it is visible and not disabled.
    func click(_ text: String) async throws {
        try await waits("named('\(text)')?.disabled !== true && named('\(text)')")
        _ = try await browser.evaluate("named('\(text)').click()")
    }
}
