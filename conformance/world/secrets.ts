export { createSecrets, type Secrets } from "../contract/secrets.ts";
