import { startGitServer } from './git-server.ts';

/** `node serve.ts <folder> <port>`: serves the repositories of a folder until it is ended. */
const [root = '', port = ''] = process.argv.slice(2);
await startGitServer({ root, port: Number(port) });
