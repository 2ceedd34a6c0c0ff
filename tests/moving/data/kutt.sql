/*M!999999\- enable the sandbox mode */ 
-- MariaDB dump 10.19  Distrib 10.11.19-MariaDB, for debian-linux-gnu (x86_64)
--
-- Host: localhost    Database: kutt
-- ------------------------------------------------------
-- Server version	10.11.19-MariaDB-0+deb12u1

/*!40101 SET @OLD_CHARACTER_SET_CLIENT=@@CHARACTER_SET_CLIENT */;
/*!40101 SET @OLD_CHARACTER_SET_RESULTS=@@CHARACTER_SET_RESULTS */;
/*!40101 SET @OLD_COLLATION_CONNECTION=@@COLLATION_CONNECTION */;
/*!40101 SET NAMES utf8mb4 */;
/*!40103 SET @OLD_TIME_ZONE=@@TIME_ZONE */;
/*!40103 SET TIME_ZONE='+00:00' */;
/*!40014 SET @OLD_UNIQUE_CHECKS=@@UNIQUE_CHECKS, UNIQUE_CHECKS=0 */;
/*!40014 SET @OLD_FOREIGN_KEY_CHECKS=@@FOREIGN_KEY_CHECKS, FOREIGN_KEY_CHECKS=0 */;
/*!40101 SET @OLD_SQL_MODE=@@SQL_MODE, SQL_MODE='NO_AUTO_VALUE_ON_ZERO' */;
/*!40111 SET @OLD_SQL_NOTES=@@SQL_NOTES, SQL_NOTES=0 */;

--
-- Table structure for table `domains`
--

DROP TABLE IF EXISTS `domains`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `domains` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `banned` tinyint(1) NOT NULL,
  `address` varchar(255) NOT NULL,
  `homepage` varchar(255) DEFAULT NULL,
  `uuid` char(36) NOT NULL,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  PRIMARY KEY (`id`),
  UNIQUE KEY `address` (`address`)
) ENGINE=InnoDB AUTO_INCREMENT=2 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `domains`
--

LOCK TABLES `domains` WRITE;
/*!40000 ALTER TABLE `domains` DISABLE KEYS */;
INSERT INTO `domains` VALUES
(1,0,'k.example.org',NULL,'5c9a1d9e-4b39-4d60-9e6b-8a1f0c0f3a11','2023-01-01 00:00:00','2023-01-01 00:00:00');
/*!40000 ALTER TABLE `domains` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `links`
--

DROP TABLE IF EXISTS `links`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `links` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `address` varchar(255) NOT NULL,
  `description` varchar(255) DEFAULT NULL,
  `banned` tinyint(1) NOT NULL,
  `domain_id` int(11) DEFAULT NULL,
  `password` varchar(255) DEFAULT NULL,
  `expire_in` datetime DEFAULT NULL,
  `target` varchar(2040) NOT NULL,
  `visit_count` int(11) NOT NULL DEFAULT 0,
  `created_at` datetime NOT NULL,
  `updated_at` datetime NOT NULL,
  `user_id` int(11) DEFAULT NULL,
  `uuid` char(36) NOT NULL,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `links`
--

LOCK TABLES `links` WRITE;
/*!40000 ALTER TABLE `links` DISABLE KEYS */;
INSERT INTO `links` VALUES
(1,'kutt01','A \'description\'',0,NULL,NULL,NULL,'https://example.com/kutt',9,'2023-01-02 03:04:05','2023-01-02 03:04:05',NULL,'5c9a1d9e-4b39-4d60-9e6b-8a1f0c0f3a11'),
(2,'secret',NULL,0,NULL,'$2a$12$hash',NULL,'https://example.com/secret',1,'2023-02-02 03:04:05','2023-02-02 03:04:05',NULL,'5c9a1d9e-4b39-4d60-9e6b-8a1f0c0f3a12'),
(3,'kutt01',NULL,0,1,NULL,'2031-01-01 00:00:00','https://example.com/own',4,'2023-03-03 03:04:05','2023-03-03 03:04:05',NULL,'5c9a1d9e-4b39-4d60-9e6b-8a1f0c0f3a13'),
(4,'banned',NULL,1,NULL,NULL,NULL,'https://example.com/banned',0,'2023-04-04 03:04:05','2023-04-04 03:04:05',NULL,'5c9a1d9e-4b39-4d60-9e6b-8a1f0c0f3a14');
/*!40000 ALTER TABLE `links` ENABLE KEYS */;
UNLOCK TABLES;

--
-- Table structure for table `visits`
--

DROP TABLE IF EXISTS `visits`;
/*!40101 SET @saved_cs_client     = @@character_set_client */;
/*!40101 SET character_set_client = utf8mb4 */;
CREATE TABLE `visits` (
  `id` int(10) unsigned NOT NULL AUTO_INCREMENT,
  `countries` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`countries`)),
  `created_at` datetime NOT NULL,
  `updated_at` datetime DEFAULT NULL,
  `link_id` int(11) DEFAULT NULL,
  `referrers` longtext CHARACTER SET utf8mb4 COLLATE utf8mb4_bin DEFAULT NULL CHECK (json_valid(`referrers`)),
  `total` int(11) NOT NULL DEFAULT 0,
  `br_chrome` int(11) NOT NULL DEFAULT 0,
  `br_edge` int(11) NOT NULL DEFAULT 0,
  `br_firefox` int(11) NOT NULL DEFAULT 0,
  `br_ie` int(11) NOT NULL DEFAULT 0,
  `br_opera` int(11) NOT NULL DEFAULT 0,
  `br_other` int(11) NOT NULL DEFAULT 0,
  `br_safari` int(11) NOT NULL DEFAULT 0,
  `os_android` int(11) NOT NULL DEFAULT 0,
  `os_ios` int(11) NOT NULL DEFAULT 0,
  `os_linux` int(11) NOT NULL DEFAULT 0,
  `os_macos` int(11) NOT NULL DEFAULT 0,
  `os_other` int(11) NOT NULL DEFAULT 0,
  `os_windows` int(11) NOT NULL DEFAULT 0,
  PRIMARY KEY (`id`)
) ENGINE=InnoDB AUTO_INCREMENT=5 DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci;
/*!40101 SET character_set_client = @saved_cs_client */;

--
-- Dumping data for table `visits`
--

LOCK TABLES `visits` WRITE;
/*!40000 ALTER TABLE `visits` DISABLE KEYS */;
INSERT INTO `visits` VALUES
(1,'{\"de\": 2, \"unknown\": 1}','2023-05-01 10:15:00','2023-05-01 10:15:00',1,'{\"direct\": 1, \"news[dot]example[dot]org\": 2}',3,0,0,3,0,0,0,0,0,0,3,0,0,0),
(2,'{\"us\": 2}','2023-05-01 23:59:59','2023-05-01 23:59:59',1,'{\"direct\": 2}',2,1,0,0,0,0,1,0,0,0,0,0,0,2),
(3,'{\"fr\": null}','2023-05-02 00:00:00','2023-05-02 00:00:00',3,'{\"direct\": 4}',4,0,0,0,0,0,0,4,0,0,0,4,0,0),
(4,'{\"us\": 1}','2023-05-02 08:00:00','2023-05-02 08:00:00',1,'{\"direct\": 1}',1,0,1,0,0,0,0,0,0,0,0,0,0,1);
/*!40000 ALTER TABLE `visits` ENABLE KEYS */;
UNLOCK TABLES;
/*!40103 SET TIME_ZONE=@OLD_TIME_ZONE */;

/*!40101 SET SQL_MODE=@OLD_SQL_MODE */;
/*!40014 SET FOREIGN_KEY_CHECKS=@OLD_FOREIGN_KEY_CHECKS */;
/*!40014 SET UNIQUE_CHECKS=@OLD_UNIQUE_CHECKS */;
/*!40101 SET CHARACTER_SET_CLIENT=@OLD_CHARACTER_SET_CLIENT */;
/*!40101 SET CHARACTER_SET_RESULTS=@OLD_CHARACTER_SET_RESULTS */;
/*!40101 SET COLLATION_CONNECTION=@OLD_COLLATION_CONNECTION */;
/*!40111 SET SQL_NOTES=@OLD_SQL_NOTES */;

-- Dump completed
