import { runManager } from 'rukpak-ts/manager';
import kustomize from './class.ts';

const {
  CONTENT_DIRECTORY: directory = '.rukpak/bundles',
  CONTENT_BIND_ADDRESS: bindAddress = ':8080',
  CONTENT_ADDRESS: externalAddress = 'http://localhost:8080',
  HEALTH_BIND_ADDRESS: healthProbeBindAddress = ':8081',
  TLS_DIRECTORY: tls,
  INSECURE_REGISTRIES: registries = '',
} = process.env;

// Until SIGTERM. What is not said here is as in the stock core, such as a lease by the class's name.
await runManager({
  provisioners: [kustomize],
  content: {
    directory,
    bindAddress,
    externalAddress,
    ...(tls ? { tls: { certFile: `${tls}/tls.crt`, keyFile: `${tls}/tls.key` } } : {}),
  },
  registries: { insecureRegistry: registries.split(',').filter((name) => name !== '') },
  healthProbeBindAddress,
});
