"""What countries are called, and where they stand on the map of tiles.

Every country is one square, roughly where it lies: small ones are seen as well as large ones, also on a phone, and
no outlines of somebody else's are needed (decision 52). Codes are those of ISO 3166-1, which clicks are counted by.
"""

from functools import cache
from typing import Final, NamedTuple

_NAMES: Final = """
AD Andorra|AE United Arab Emirates|AF Afghanistan|AG Antigua and Barbuda|AI Anguilla|AL Albania|AM Armenia|AO Angola
AQ Antarctica|AR Argentina|AS American Samoa|AT Austria|AU Australia|AW Aruba|AX Åland|AZ Azerbaijan
BA Bosnia and Herzegovina|BB Barbados|BD Bangladesh|BE Belgium|BF Burkina Faso|BG Bulgaria|BH Bahrain|BI Burundi
BJ Benin|BL Saint Barthélemy|BM Bermuda|BN Brunei|BO Bolivia|BQ Caribbean Netherlands|BR Brazil|BS Bahamas|BT Bhutan
BV Bouvet Island|BW Botswana|BY Belarus|BZ Belize|CA Canada|CC Cocos Islands|CD Congo (Kinshasa)
CF Central African Republic|CG Congo (Brazzaville)|CH Switzerland|CI Côte d’Ivoire|CK Cook Islands|CL Chile|CM Cameroon
CN China|CO Colombia|CR Costa Rica|CU Cuba|CV Cabo Verde|CW Curaçao|CX Christmas Island|CY Cyprus|CZ Czechia|DE Germany
DJ Djibouti|DK Denmark|DM Dominica|DO Dominican Republic|DZ Algeria|EC Ecuador|EE Estonia|EG Egypt|EH Western Sahara
ER Eritrea|ES Spain|ET Ethiopia|FI Finland|FJ Fiji|FK Falkland Islands|FM Micronesia|FO Faroe Islands|FR France|GA Gabon
GB United Kingdom|GD Grenada|GE Georgia|GF French Guiana|GG Guernsey|GH Ghana|GI Gibraltar|GL Greenland|GM Gambia
GN Guinea|GP Guadeloupe|GQ Equatorial Guinea|GR Greece|GS South Georgia|GT Guatemala|GU Guam|GW Guinea-Bissau|GY Guyana
HK Hong Kong|HM Heard and McDonald Islands|HN Honduras|HR Croatia|HT Haiti|HU Hungary|ID Indonesia|IE Ireland|IL Israel
IM Isle of Man|IN India|IO British Indian Ocean Territory|IQ Iraq|IR Iran|IS Iceland|IT Italy|JE Jersey|JM Jamaica
JO Jordan|JP Japan|KE Kenya|KG Kyrgyzstan|KH Cambodia|KI Kiribati|KM Comoros|KN Saint Kitts and Nevis|KP North Korea
KR South Korea|KW Kuwait|KY Cayman Islands|KZ Kazakhstan|LA Laos|LB Lebanon|LC Saint Lucia|LI Liechtenstein|LK Sri Lanka
LR Liberia|LS Lesotho|LT Lithuania|LU Luxembourg|LV Latvia|LY Libya|MA Morocco|MC Monaco|MD Moldova|ME Montenegro
MF Saint Martin|MG Madagascar|MH Marshall Islands|MK North Macedonia|ML Mali|MM Myanmar|MN Mongolia|MO Macao
MP Northern Mariana Islands|MQ Martinique|MR Mauritania|MS Montserrat|MT Malta|MU Mauritius|MV Maldives|MW Malawi
MX Mexico|MY Malaysia|MZ Mozambique|NA Namibia|NC New Caledonia|NE Niger|NF Norfolk Island|NG Nigeria|NI Nicaragua
NL Netherlands|NO Norway|NP Nepal|NR Nauru|NU Niue|NZ New Zealand|OM Oman|PA Panama|PE Peru|PF French Polynesia
PG Papua New Guinea|PH Philippines|PK Pakistan|PL Poland|PM Saint Pierre and Miquelon|PN Pitcairn|PR Puerto Rico
PS Palestine|PT Portugal|PW Palau|PY Paraguay|QA Qatar|RE Réunion|RO Romania|RS Serbia|RU Russia|RW Rwanda
SA Saudi Arabia|SB Solomon Islands|SC Seychelles|SD Sudan|SE Sweden|SG Singapore|SH Saint Helena|SI Slovenia
SJ Svalbard and Jan Mayen|SK Slovakia|SL Sierra Leone|SM San Marino|SN Senegal|SO Somalia|SR Suriname|SS South Sudan
ST São Tomé and Príncipe|SV El Salvador|SX Sint Maarten|SY Syria|SZ Eswatini|TC Turks and Caicos Islands|TD Chad
TF French Southern Territories|TG Togo|TH Thailand|TJ Tajikistan|TK Tokelau|TL Timor-Leste|TM Turkmenistan|TN Tunisia
TO Tonga|TR Türkiye|TT Trinidad and Tobago|TV Tuvalu|TW Taiwan|TZ Tanzania|UA Ukraine|UG Uganda
UM U.S. Outlying Islands|US United States|UY Uruguay|UZ Uzbekistan|VA Vatican City
VC Saint Vincent and the Grenadines|VE Venezuela|VG British Virgin Islands|VI U.S. Virgin Islands|VN Vietnam|VU Vanuatu
WF Wallis and Futuna|WS Samoa|XK Kosovo|YE Yemen|YT Mayotte|ZA South Africa|ZM Zambia|ZW Zimbabwe
"""

_MAP: Final = """
.. .. .. .. .. GL .. .. IS FO .. SJ NO SE FI .. .. .. .. .. .. .. .. .. .. .. .. .. .. ..
.. .. .. .. .. .. .. .. .. IE GB .. DK AX EE .. RU .. .. .. .. .. .. .. .. .. .. .. .. ..
.. .. .. .. .. .. .. .. .. IM JE NL DE PL LV BY .. .. .. .. .. .. .. .. .. .. .. .. .. ..
.. .. .. .. .. .. .. .. .. GG BE LU CZ SK LT UA .. .. .. .. .. .. .. .. .. .. .. .. .. ..
.. CA .. PM .. .. .. .. .. .. FR CH LI AT HU MD .. .. KZ .. .. .. MN .. .. .. .. .. .. ..
.. US .. BM .. .. .. .. .. .. AD MC SI HR RS RO GE .. UZ KG .. .. CN .. KP JP .. .. .. ..
.. MX .. BS TC .. .. .. PT ES .. SM IT BA XK BG AM AZ TM TJ .. .. .. .. KR .. .. .. .. ..
.. GT BZ CU HT DO PR VG .. GI .. VA ME AL MK .. TR .. IR AF PK NP BT MO HK TW .. .. .. ..
.. SV HN KY JM MS VI AI MF .. .. .. MT .. GR CY LB SY IQ .. .. IN BD MM LA VN .. MP .. ..
.. .. NI .. .. SX KN AG BL MA DZ TN LY EG .. PS IL JO KW BH .. .. .. TH KH PH .. GU .. ..
.. .. CR AW CW BQ GP DM EH MR ML NE TD SD ER .. .. SA .. QA AE LK .. MY BN .. PW FM MH ..
.. .. PA CO VE .. MQ CV SN GN BF NG CF SS ET DJ .. .. YE OM .. MV .. SG ID .. PG NR .. KI
.. .. EC GY SR GD VC LC GM SL CI BJ CM UG KE SO .. .. .. .. .. .. CC CX .. TL SB TV TK ..
CK .. PE BR GF TT BB .. GW LR GH TG GQ CD RW .. .. .. .. .. IO .. .. .. .. .. VU FJ WF WS
PF .. BO PY .. .. .. .. .. .. .. ST GA CG BI TZ .. SC .. .. .. .. .. .. .. AU NC TO NU AS
PN .. CL AR UY .. .. .. .. .. SH .. AO ZM MW .. KM .. .. .. .. .. .. .. .. .. NF .. .. ..
.. .. .. .. .. .. .. .. .. .. .. .. NA BW ZW MZ YT MG MU .. .. .. .. .. .. .. .. NZ .. ..
.. .. .. .. FK GS .. .. .. .. .. .. .. ZA LS SZ .. RE .. .. .. .. .. .. .. .. .. .. .. ..
"""


class Tile(NamedTuple):
    column: int
    row: int


@cache
def _names() -> dict[str, str]:
    entries = _NAMES.strip().replace("\n", "|").split("|")
    return {entry[:2]: entry[3:] for entry in entries}


@cache
def tiles() -> dict[str, Tile]:
    """By code. Lands without people have none."""
    rows = [line.split() for line in _MAP.strip().splitlines()]
    return {
        code: Tile(column, row)
        for row, codes in enumerate(rows)
        for column, code in enumerate(codes)
        if code != ".."
    }


def country_name(code: str) -> str:
    """In English; a code that nobody knows stays what it is."""
    return _names().get(code, code)
