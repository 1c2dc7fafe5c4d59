import type { FlagValues } from './cobra/flag-values.ts';

export interface TlsOptions {
  readonly skipTlsVerify: boolean;
  readonly useHttp: boolean;
}

/** @throws Error with opm's text for contradicting flags. */
export function tlsOptions(flags: FlagValues): TlsOptions {
  const [skipTlsVerify, useHttp] = [flags.bool('skip-tls-verify'), flags.bool('use-http')];
  for (const other of ['use-http', 'skip-tls-verify']) {
    if (!flags.changed('skip-tls') || !flags.changed(other)) continue;
    throw new Error(`invalid flag combination: cannot use --${other} with --skip-tls`);
  }
  if (skipTlsVerify && useHttp) {
    throw new Error(
      'invalid flag combination: --use-http and --skip-tls-verify cannot both be true',
    );
  }
  return flags.bool('skip-tls')
    ? { skipTlsVerify: false, useHttp: true }
    : { skipTlsVerify, useHttp };
}
