import type { Command } from 'commander';
import type { Zone } from '../../core/run-manager.ts';
import { addCoreFlags } from './core-flags.ts';

/** Flags that have an effect only in the other zone. */
const withoutEffect: Readonly<Record<Zone, RegExp>> = {
  unpacking:
    /^--(?:certificates|serving-certificate-lifetime|default-.*|crd-reader-role|feature-gates|content-server|content-token-file|bundle-ca-file)$/,
  applying:
    /^--(?:provisioner-storage-dir|max-archive-bytes|http-external-address|insecure-registry|registr.*|image-policy|sigstore-trusted-root|upload-.*|max-upload-bytes)$/,
};

/**
 * Adds core's flags, so that core's manifest works for either zone; the help shows only those with
 * an effect.
 */
export function addZoneFlags(command: Command, zone: Zone): Command {
  addCoreFlags(command);
  for (const option of command.options) {
    if (withoutEffect[zone].test(option.long ?? '')) option.hideHelp();
  }
  return command;
}
