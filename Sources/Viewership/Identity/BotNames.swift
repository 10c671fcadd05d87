import Foundation

/// Lowercase names of crawlers, link previewers and availability monitors.
///
/// The names are derived from the patterns of the list in `source`: plain words only, without HTTP libraries, which
/// players use too, without readers and other apps in which people watch, and without words that occur in other names.
/// Names with "bot", "crawler" or "spider" match without an entry here.
///
/// The list has this licence:
///
/// The MIT License (MIT)
///
/// Copyright (c) 2017 Martin Monperrus
///
/// Permission is hereby granted, free of charge, to any person obtaining a copy of
/// this software and associated documentation files (the "Software"), to deal in
/// the Software without restriction, including without limitation the rights to
/// use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of
/// the Software, and to permit persons to whom the Software is furnished to do so,
/// subject to the following conditions:
///
/// The above copyright notice and this permission notice shall be included in all
/// copies or substantial portions of the Software.
///
/// THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR
/// IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF MERCHANTABILITY, FITNESS
/// FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
/// COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER
/// IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
/// CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.
enum BotNames {
    /// The name and version of the source list.
    static let source = "crawler-user-agents 1.67.0"
    /// The date of that version.
    static let date = "2026-10-25"

    static let all = text.split { $0 == "|" || $0 == "\n" }.map { $0.trimmingCharacters(in: .whitespaces) }

    private static let text = """
        7siters | ;owler | a360-search | a6-indexer | aboundex | abuse.xmco.fr | academicbotrtu | accessstatus
        acquia optimize | activecomply | acunetix | adbeat.com | addthis | admantx | adminlabs | adscanner
        air.ai/scanning | alertsite | alexa site audit | alienfarm | allafrica | allorigins | amazonbuyforme
        amazonproductdiscovery | amazonsellerinitiatedlisting | amzn-user | anomura | anthropic-ai | anyevent
        apercite | apis-google | appengine-google | appinsights | appsiteassociation | aragog/ | aranea
        archive-it | archivebox | asana/ | asnriskscorer | authory | autoconfig test from ustc
        bad neighborhood header detector | baidu-yunguance | barkrowler | bazqux | bestchange | biglotron
        bigsur.ai | binarycanary | bingpreview/ | binlar | bitbucket-webhooks | bitdiscovery | blackboard
        blackbox exporter/ | blackduck-fd | bling erp | blingerp | blockaid | bloglines | blogtrottr | blogvault
        bluesky-domain-status-classifier | bluesky/ | botify | botpoke | brandverity | brandwatch
        brokenlinkcheck.com | bubing | bugsnag | bushbaby | buttondown | capitaloneshopping | capsulechecker
        catchpoint | caveman-hunter | cc metadata scaper | censysinspect/ | centuryb.o.t9 | cert pl | certchief
        certytags | changedetection | channable | chatgpt-user | chatwork linkpreview | checkhost | checkly
        checkmarknetwork/ | chrome-lighthouse | cincraw | cirrusexplorer | citoid | classla-web | claude-user
        claude-web | clickagy | clickuplinkunfurler | cloudflare-alwaysonline | cloudflare-autorag
        cloudflare-csup | cloudflare-custom-hostname-verification | cloudflare-healthchecks
        cloudflare-radar-scanner | cloudflare-speedtest | cloudflare-ssldetector | cloudflare-traffic-manager
        cloudflare-validator | cloudflareradarurlscanner | cloudtrellis | cmschecker | coccoc | cognitiveseo.com
        cohere-ai | collapsify | collection@infegy.com | commafeed | contentkingapp | convera | convermax
        cookie-maestro | cookiehubscan | cookiehubverify | corporama matcher | cotoyogi | crawl4ai | crawlson
        crazy egg | criticalcss.com | cron-job.org | cronless | crusty/ | csirt.cz | cyberpatrol | cyotekwebcopy
        cypex.ai/scanning | dareboost | dark visitor | datadog agent | datadog synthetic | datadogsynthetics
        datafeedwatch | datanyze | dataprovider.com | daumoa | dcrawl | dead link checker | deadlinkchecker
        deepcrawl | deepnoc | detectify | deusu/ | developers.google.com/+/web/snippet | digg deeper
        digicert dcv | dirbuster | discourse forum onebox | dlvr.it | dnsscanner | do not track verifier
        domains project/ | dotcom-monitor | download ninja | downnotifier.com | downtimedetector/ | drataautopilot
        dreamhost data team | drupact | easybib autocite | easybill-importmanager | easycron/ | easydns monitoring
        ec2linkfinder | edgewatch | electricmonk | elmah.io uptime monitoring | emailwolf | embedly
        emoney advisor | erepublik.tools | eright | europarchive.org | evc-batch | exodusmovement
        extecontextcrawl | ezlynx | ezooms | facebookcatalog/ | facebookexternalhit | fastdast | fedidb
        fediindex | fedilist agent | fedineko | fedoraplanet | feed image audit | feedbin | feedburner | feeder.co
        feedflow | feedspot | feedvalidator | feedwind | findfiles.net | findlink | findthatfile | firecrawlagent
        firmograph | flamingo_searchengine | flipboardproxy | flipboardrss | foregenix | freespoke/ | freshrss
        funnelback | g00g1e.net | g2 web services | gdnplus.com | geedoproductsearch | geedoshopproductfinder
        gemini-deep-research | getthit.com | ghost inspector | giftedvisitor scan | gigablast | globalwebsearch
        golfe/ | goodzer | google favicon | google trust services | google web preview | google-ads-conversions
        google-adwords-express | google-adwords-instant | google-agent | google-apps-script | google-area120
        google-certificates-bridge | google-extended | google-gemini-cli | google-inspectiontool
        google-notebooklm | google-physicalweb | google-read-aloud | google-safety | google-site-verification
        google-structured-data-testing-tool | google-trust-services/ | google-xrawler | googleagent-mariner
        googleassociationservice | googledocs | googleimageproxy | googleother | googleproducer
        googlestackdrivermonitoring | gotsitemonitor.com | grouphigh/ | grover/ | grub.org | gtmetrix | happywing
        hardenize | hatena | hcardvalidator | headonlyscraper | heritrix | hetrixtools | hgfalphaxcrawl/
        honeybadger uptime check | hosttracker/ | httrack | hubspot | hydrozen.io | hype machine/ | hypestat
        hyscore.io | ia_archiver | ichiro | idg/eu | iframely | ifttt/ | imagemind | img2dataset
        impact.com agent | infosifter | innguma/ | innologica | instapaper/ | integromat/ | integromedb
        internetmeasurement | internetvista monitor | ioncrawl | ips-agent | irokez.cz monitoring | iskanie
        isonai-user | iubenda-radar/ | jetmon/ | jetslide | kaikki.org-digital-archive | keycdn-tools/
        keydrop.io | klaviyo/ | known agent | l9explore | l9scan | lac_iaharvester | laion-huggingface-processor
        larbin | legalmonster | let's encrypt | library of congress web archiving | linkace/ | linkarchiver
        linkdex | linktiger | linkwalker/ | lipperhey | loc.gov/programs/web-archiving | logicmonitor
        loopimprovements.com | luminator-robots | lwp-trivial | lyonl-asset-proxy | macocu | magicsearchdev/
        magnet.me-web/ | magpierss | mailchimp | mainwp/ | managewp | manus-user | mappydata | marketgoo/
        marketingminer | masscan | matchorysearch | mavifinds | mb-linkchecker | mechanize | mediapartners-google
        mediavinemetadataparser/ | megaindex | meltwaternews | meta-externalads/ | meta-externalagent/
        meta-externalhit/ | meta-webindexer | metaiab facebook | metainspector | metauri | metorik
        microsoftpreview/ | miniature.io/ | miniflux/ | mirrorweb.com | mistralai-user | mixnodecache/
        modatscanner | modularconnector/ | monitis - | monitorss/ | monspark/ | montastic-monitor
        montasticmonitor | montools.com | muckrack | mxtoolbox | nanointeractive | nbertaupete95 | nessus | netapi
        netcraft ssl server survey | netcraft web server survey | netcraftsurveyagent | netresearchserver
        netshelter contentscan | netsystemsresearch | netvibes | netvigie | new york times newsgathering
        newrelicsynthetics | newsai/ | newsblur | newsharecounts | newsnow/ | newsroom.bi | nicheindex | nitro-
        nlnz_iaharvester | nlux_iaharvester | nmap scripting engine | nodeping | nooshub/ | novaact/ | novellum
        nuzzel | nvdorz | nyt_scraping | observepoint | offline explorer | ohdear/ | omgili | omnisend/ | oncrawl/
        onetrust | online domain tools | opengraph.io/ | opengraphcheck | openrss | openvas | orlo-linkpreview/
        outsellurlvalidator | owler-w | page-preview-tool | page2rss | pagepeeker/ | pagespeed/ | pagething
        pandalytics | panopta | panscient | parse.ly scraper/ | pdf24 url to pdf
        penthouse critical path css generator | perplexity-user | perplexityuser | pingadmin.ru/ | pingdom
        pingping.io/ | pixalate.com | playstore-google | playwright | pocketparser | podchaserparser | poduptime
        poggio-citations | postrank | printfriendly.com | pro-sitemaps/ | probelyspdr/ | projectshield-urlcheck
        protopage/ | proximic | prtg network monitor | ps_daily/ | pulsepoint | pulsetic.com | qualys
        rackspace monitoring/ | reelevant/ | remove.bg/ | researchscan.comsys.rwth-aachen.de | retrevopageanalyzer
        retrolistecom/ | revvimgort/ | robotschecker/ | rsiteauditor | rss-parser | rss.social | rss2tg | rssapi/
        ruxitsynthetic | salesforce.com | sansec security monitor/ | schema-markup-validator | scoop.it/ | scope3
        scoutjet | scraping@nytimes.com | scrubby | search.marginalia.nu | searchatlas | searcherweb
        searcherxweb | searchexpress | securityheaders | seekport | seewithkids | selenium | semantic-visions
        sempi.tech | sendgrid event api | sentinel-linkcheck | seo4ajax.com | seokicks | seolizer | seolyt
        seoscanners | seositecheckup | seostar.co | sequelwp | server density service monitoring | serverdensity
        sfdc-callout/ | shopify-captain-hook | shortpixel | silktide | simplepie | simplescraper
        sincerasyntheticuser/ | sindresorhus/got | sindup | site24x7 | sitebulb | sitecheck-sitecrawl
        siteexplorer.info | siteimprove.com | sitelock | sitesearch360/ | sitesucker | siteuptime.com
        skypeuripreview | slack-imgproxy | snacktory | snap url preview service | snapchatads/ | snapurlpreview/
        snipcart/ | software-security-research | solarwinds/ | sora pos/ | sottopopnone | sparkpost
        sparkshipping | spawning-ai | specificfeeds | splash version/ | splunk | sqlmap | sqwatcher | ssl labs
        stape/ | startpageprivateimageproxy/ | statistikaustria/ | statuscake | sucuri | summify | superfeedr
        sv-watchagent | svix-webhooks/ | swifteqlinkchecker | swisscows | synthetic-monitoring-agent/ | sysomos
        tactiscout/ | tchelebi/ | test certificate info | testlocally/ | testuri | textrazor | the knowledge ai
        theinternetsearchx | thinklab | thousandeyes | tineye | tiny tiny rss | tls tester | traackr.com
        tracemyfile | trafilatura | trellis-services | trendsmapresolver | trentwil.es | tsm-turingos
        ttd-content | turnitin | tweetedtimes | twilioproxy/ | twinagent | twingly | twinwavescanner | twurly
        uaslinkchecker/ | ugaresearchagent | updown.io | upflow | uptime-kuma | uptime/ | uptimedoctor
        uptimestatistics | uptimia | uptrends | urlcheckr/ | useebookchecker/ | vagabondo/ | validator.nu
        vaultpress | vercel-screenshot | virustotal | visionheight.com/scan | vkshare | vmcrawl
        vu-server-health-scanner/ | w3c-checklink | w3c_css_validator | w3c_i18n-checker | w3c_unicorn
        w3c_validator | watchmouse | watchtowr | wayback | web measure/ | web screen service by hyperhost
        webcapture | webceo online/ | webcopier | webdatastats | webmon | websiteops | websitepulse | websniffer/
        webzio | webzip | wedos online | wepchsearchengine | wesee:search | whatsmyip.org | whatweb/
        wheregoes.com | wheresitup.com/ | wikido | wjhro/ | wmtips.com/ | woorankreview/ | wordpress/ | wordup-1
        wordupinfosearch | workona-favicon-service/ | wotbox | wp time capsule | wpmu dev broken link checker
        wpmu dev hub | wpmudev uptime monitor | wpscan | wpsec/ | wpumbrella | wtotem | www.uptime.com
        xenu link sleuth | xml sitemaps generator | xy-archive-compliance | yahoo ad monitoring
        yahoo link preview | yahoocachesystem | yahoomailproxy | yandex.com/bots | ylt chrome | yokoygroupag/
        zabbix | zapier | zendesk webhook | zoominfo- | zoterotranslationserver/wmf | zyborg
        """
}
