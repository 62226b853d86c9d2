"""How Chromium is started: without what no test sees, and what it would do by itself."""

from __future__ import annotations

LEFT_OUT = (
    # The address bar's lists, which nobody sees here: a process for each window that draws them,
    # a third of what a new tab costs.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    # A process for a page that nobody has asked for yet, with each window.
    "SpareRendererForSitePerProcess",
    # What Playwright leaves out stands here again, as Chromium reads the last such flag alone.
    "AimEnabled",
    "AvoidCorsURLLoaderRestartOnRedirect",
    "AvoidUnnecessaryBeforeUnloadCheckSync",
    "DestroyProfileOnBrowserClose",
    "HttpsFirstBalancedModeAutoEnable",
    "HttpsUpgrades",
    "LensOverlay",
    "MediaRouter",
    "NetworkTimeServiceQuerying",
    "OptimizationHints",
    "PaintHolding",
    "PreconnectToSearch",
    "ThirdPartyStoragePartitioning",
)
FLAGS = (
    f"--disable-features={','.join(LEFT_OUT)}",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)
