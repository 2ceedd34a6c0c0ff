"""Desktop, mobile or tablet, by the user agent alone.

It says what the browser claims: an iPad that asks for desktop pages calls itself a Macintosh, a phone that does so a
Linux machine. What is none of the three (televisions, consoles, speakers) is "unknown".
"""

# Kinds of words, all looked for in one pass. White space is for the reader; `\ ` is a space that counts.
_KINDS = {
    # Many of them are built on Android and would pass for tablets.
    "neither": r"""
        smart[-_\ ]?tv | hbbtv | (?:google|android|apple|philips|net|opera|mi)\ ?tv | \btv\b | tv\ ?os\b | netcast
        | web0s | \bviera | bravia | maple_ | roku | chromecast | crkey | \baft[a-z]{1,4}\b | dlnadoc | set-?top | \bstb\b
        | mibox | [-_\ ]box\b | boxee | kodi | xbmc | espial | large\ screen | \btuner | \b4k\b | nintendo\ (?:wii|switch)
        | playstation(?:$|[^\ ]|\ [^vp]) | xbox | ouya | \baeo[a-z]{2}\b | sonos | homepod | watchos | carbrowser | tesla/
        | oculus | \bquest\ \d\b""",
    # "Tablet PC" is what Windows adds on ordinary computers.
    "tablet": r"""
        ipad | tablet(?:$|[^\ ]|\ [^p]) | playbook | kindle | \bkf[a-z]{2,5}\b | touchpad | xoom | nexus\ (?:7|9|10)\b
        | pixel\ (?:c|tablet)\b | galaxy\ tab | \bsm-[tpx]\d{3} | \bgt-[np][58]\d{3} | \bgt-p\d{4} | \bsch-i800 | mediapad
        | transformer | \bslate\b | \btb-?\d{4} | \byoga\ tab | ideatab | iconia | \bsgpt?\d | \bmi\ ?pad | \bpad\b""",
    "silk": r"\bsilk",
    "computer": r"windows\ (?:nt|9) | macintosh | \bcros\b | chromebook | x11; | thunderbird",
    "phone with Windows": r"phone | lumia | wpdesktop | wp7 | windows\ ce | iemobile | nokia | palm | maemo",
    "Windows Phone": r"windows\ phone",
    "Android": r"android",
    "WebKit": r"applewebkit|chrome/",
    "says mobile": r"mobile",
    "mobile": r"""
        mobi | phone | ipod | android | blackberry | \bbb10\b | opera\ mini | symbian | series\ ?[3-9]0 | s60version | nokia
        | maemo | meego | midp | cldc | j2me | \bwap | up\.(?:browser|link) | palm | webos | windows\ ce | wince | pocket
        | \bpda\b | iemobile | docomo | kddi | softbank | vodafone | willcom | ericsson | samsung | \bs[cgp]h- | ^sec-
        | \blg(?:e|u\d|[-_/\ ]) | \bmot- | motorola | \bsie- | siemens | sagem | alcatel | sanyo | sharp | panasonic
        | philips | \bzte | huawei | \bhtc | lenovo | kwc- | kyocera | \bp[gt]- | \bqc- | \bamoi | haier | ^bird | \btcl
        | tianyu | k-touch | coolpad | gionee | oppo | \bvivo | xiaomi | \bbada\b | \bbrew\b | obigo | netfront | polaris
        | teleca | openwave | dolfin | jasmine | ucweb | ucbrowser | mqqbrowser | onebrowser | \bmmp/ | hiptop | sidekick
        | avantgo | blazer | fennec | dalvik | \bios\b | playstation\ (?:vita|portable) | \bpsp\b | nintendo\ (?:3?ds|dsi)
        | kaios | benq | ^acer- | ^asus- | \bsony | ^fly | pantech | ^spice""",
    "desktop": r"""
        windows | win(?:9[58]|nt|32|64|10) | mac[_\ ]?os | mac_p | \bosx | darwin | x11 | linux | ubuntu | [a-z]bsd | sunos
        | solaris | dragonfly | irix | hp-ux | \baix\b | os/2 | beos | haiku | amiga | risc\ os | openvms | msie
        | konqueror | lynx | links | w3m | epiphany | camino | \bpc;""",
}


class Devices:
    def __init__(self) -> None:
        import re2

        self._set = re2.Set.SearchSet()
        for pattern in _KINDS.values():
            self._set.Add("(?i)" + _compact(pattern))
        self._set.Compile()
        self._kinds = list(_KINDS)

    def named_by(self, user_agent: str) -> str | None:
        """One of desktop, mobile, tablet, unknown; None when the agent says nothing of what it runs on."""
        said = {self._kinds[number] for number in self._set.Match(user_agent) or ()}
        if "neither" in said and "Windows Phone" not in said:
            return "unknown"
        if "tablet" in said or ("silk" in said and "says mobile" not in said):
            return "tablet"
        if "computer" in said:
            return "mobile" if "phone with Windows" in said else "desktop"
        if "Android" in said and "WebKit" in said:
            # Browsers on Android say "Mobile" on phones and leave it out on tablets; apps say nothing either way.
            return "mobile" if "says mobile" in said else "tablet"
        if "mobile" in said:
            return "mobile"
        return "desktop" if "desktop" in said else None


def _compact(pattern: str) -> str:
    return "".join(pattern.replace(r"\ ", "\0").split()).replace("\0", " ")
