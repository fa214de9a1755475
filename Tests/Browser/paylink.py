#!/usr/bin/python3
"""Pays a payment link of a simulated server in Chromium: paylink.py URL"""

import pathlib
import sys
import types
import urllib.parse

import hostedpage
from shopper import Shopper


def main():
    url = sys.argv[1]
    port = urllib.parse.urlsplit(url).port
    shopper = Shopper(types.SimpleNamespace(port=port, shop=url, origins=[]), pathlib.Path("artifacts/browser"))
    try:
        shopper.browser.get(url)
        hostedpage.pay(shopper)
        print(shopper.browser.find_element("css selector", "main").text)
    finally:
        shopper.quit()


if __name__ == "__main__":
    main()
