import { runManager } from 'rukpak-ts/manager';
import kustomize from './class.ts';

const { env } = process;
const tls = env['TLS_DIRECTORY'];

// Runs until SIGTERM; whatever is not said here is as in the stock core.
await runManager({
  provisioners: [kustomize],
  content: {
    ...(env['CONTENT_DIRECTORY'] ? { directory: env['CONTENT_DIRECTORY'] } : {}),
    ...(env['CONTENT_BIND_ADDRESS'] ? { bindAddress: env['CONTENT_BIND_ADDRESS'] } : {}),
    ...(env['CONTENT_ADDRESS'] ? { externalAddress: env['CONTENT_ADDRESS'] } : {}),
    ...(tls ? { tls: { certFile: `${tls}/tls.crt`, keyFile: `${tls}/tls.key` } } : {}),
  },
  registries: { insecureRegistry: env['INSECURE_REGISTRIES']?.split(',') ?? [] },
  ...(env['HEALTH_BIND_ADDRESS'] ? { healthProbeBindAddress: env['HEALTH_BIND_ADDRESS'] } : {}),
});
