#!/bin/sh
exec swizproof "$@"
